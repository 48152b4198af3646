// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Lets the calls of all senders have their turns, so that none of them holds up another one for longer than a call takes,
/// however much it calls.
///
/// Whoever has used least time is served first (start-time fair queueing: Goyal, Vin, Cheng, 1996). What a sender has used
/// counts only while others wait. Nothing is served whose answer would have to wait behind much that is unsent.
@MainLoop
final class CallTurns {
    /// The turns of everything that runs on the main loop.
    static let shared = CallTurns()

    /// How many calls of one sender may be without an answer.
    private static let maximumCalls = 16_384
    /// How many calls that came past a bus may have begun and be without an answer. What waits for its turn there is limited
    /// by not being read; refusing is for what has begun, whose answers come by the same socket.
    private static let maximumCallsPast = 2048
    /// How many bytes the calls of one sender may take that are without an answer, while others have few, and those of all
    /// senders.
    private static let (maximumBytes, maximumBytesOfAll) = (24 << 20, 48 << 20)
    /// What is taken of a sender however much others have open.
    private static let leastBytes = 64 << 10

    /// Those that have something that waits and may have its turn, whoever is next at the end.
    private var lines: [CallLine] = []
    /// The tag of the latest that has had its turn.
    private var now: Int64 = 0
    private var isScheduled = false
    /// How many bytes calls take that have no answer, and of how many senders.
    private var (openBytes, openLines) = (0, 0)
    /// The most bytes that these were since so much was answered that memory was given back.
    private var mostOpenBytes = 0
    /// From how many bytes less on that is done.
    private static let returnedBytes = 4 << 20
    private let freedMemory = FreedMemory()
    /// How many messages wait for their turn, and how many descriptors came with them.
    private var (waiting, openDescriptors) = (0, 0)
    /// How many that may be.
    private static let maximumDescriptors = 256

    /// Four times as long as a call has just taken, in microseconds, but a millisecond at least and fifty at most: so long others
    /// are heard before the next one.
    var readingTime: Int64 { min(max(Self.servingTime, 4 * lastTime), 50_000) }
    private var lastTime: Int64 = 0
    /// Whether a call has just taken so long that a bus which has much to say has meanwhile said as much of it as it could.
    var isCostly: Bool { lastTime > Self.servingTime / 10 }

    /// How long calls are served, in microseconds, before others on the main loop get their turn.
    private static let servingTime: Int64 = 1000

    /// How many bytes of answers all senders together may not have read.
    var unread = 0
    /// How much of that may be taken to have been read.
    var forgiveness = Forgiveness()

    /// Whether anything has or may have a turn before what begins now, also of senders of whom it is not known who they are.
    var isBusy: Bool { isScheduled || waiting > 0 }

    /// `call` has come, and waits for its turn.
    /// - Returns: why it is refused; nil if it is taken.
    func take(_ call: Message, from line: CallLine, on connection: Connection) -> DBusError? {
        guard connection.isPast ? line.begunCalls < Self.maximumCallsPast : hasRoom(call, of: line)
        else {
            return Self.tooMany
        }
        if line.isDeaf { return CallLine.deaf }
        if line.openBytes == 0 { openLines += 1 }
        openBytes += call.weight
        mostOpenBytes = max(mostOpenBytes, openBytes)
        line.opened(call)
        wait(call, in: line, on: connection)
        return nil
    }

    private static let tooMany = DBusError.limitsExceeded(
        "Too many of your calls have no answer yet. Wait for the answers.")

    /// `message` takes effect when it is its turn, after what has come from `line` before.
    func wait(_ message: Message, in line: CallLine, on connection: Connection) {
        waiting += 1
        openDescriptors += message.descriptors.count
        line.append(.message(message, connection, MainLoop.account))
        queue(line)
    }

    /// `message`, a reply or a signal, has come, and takes effect when it is its turn. A bus cannot be left unread for one sender's
    /// sake: of what comes by it, what nobody waits for is dropped once too much waits there.
    func hear(_ message: Message, from line: CallLine, on connection: Connection) {
        guard !connection.isPast else { return wait(message, in: line, on: connection) }
        if message.kind != .signal {
            guard case .awaited = connection.standing(ofReplyTo: message.replySerial) else {
                return connection.takeEffect(message)
            }
        } else if line.isFull || openDescriptors + message.descriptors.count > Self.maximumDescriptors {
            return
        }
        wait(message, in: line, on: connection)
    }

    /// It is known who `line` belongs to: what waits there may have its turn.
    func ready(_ line: CallLine) {
        queue(line)
        goOn()
    }

    /// Has `line` wait for its turn, behind those that have used as much, if it does not yet, and anything waits there.
    private func queue(_ line: CallLine) {
        guard line.turn == nil, line.caller != nil, !line.isEmpty else { return }
        line.tag = max(line.tag, now)
        line.turn = line.tag
        var (first, end) = (0, lines.count)
        while first < end {
            let middle = (first + end) / 2
            if let turn = lines[middle].turn, turn > line.tag { first = middle + 1 } else { end = middle }
        }
        lines.insert(line, at: first)
    }

    /// Whoever could be heard was heard. What waits is served, here and now as long as nothing else on the main loop has waited
    /// for longer.
    func heard() {
        guard !lines.isEmpty else { return }
        guard MainLoop.waitingJobs == 0 else { return goOn() }
        serveSome()
    }

    /// There is room again for what waits.
    func goOn() {
        guard !isScheduled, !lines.isEmpty else { return }
        isScheduled = true
        MainLoop.charge(nil) {
            _ = MainLoop.start { [weak self] in
                self?.isScheduled = false
                self?.serveSome()
            }
        }
    }

    /// Serves at least one, if any may be served now, and more for a moment, unless something else on the main loop waits then.
    private func serveSome() {
        MainLoop.charge(nil) {
            var time = MainLoop.now
            let end = time + Self.servingTime
            repeat {
                guard let line = next() else { return }
                serve(line, &time)
            } while time < end && MainLoop.waitingJobs == 0
            goOn()
        }
    }

    /// Whether a call that comes by the bus, which cannot be left unread for one sender's sake, is taken.
    private func hasRoom(_ call: Message, of line: CallLine) -> Bool {
        guard line.openCalls < Self.maximumCalls,
            call.descriptors.isEmpty || openDescriptors + call.descriptors.count <= Self.maximumDescriptors
        else { return false }
        let bytes = call.weight
        let (ofLine, ofAll) = (line.openBytes + bytes, openBytes + bytes)
        guard ofLine > Self.leastBytes else { return true }
        // One call alone may be long; and as long as there is room, nobody has to share it.
        guard ofAll > Self.maximumBytes else { return true }
        let share = Self.maximumBytesOfAll / max(1, openLines)
        return ofAll <= Self.maximumBytesOfAll && (ofLine <= share || line.openBytes == 0)
    }

    /// `message` does not wait any longer.
    func forget(_ message: Message) {
        waiting -= 1
        openDescriptors -= message.descriptors.count
    }

    /// Calls of so many bytes are answered, or are not going to be, perhaps the last ones of a sender.
    func closed(_ bytes: Int, isLast: Bool) {
        openBytes -= bytes
        if isLast { openLines -= 1 }
        guard mostOpenBytes - openBytes >= Self.returnedBytes else { return }
        freedMemory.freed(mostOpenBytes - openBytes)
        mostOpenBytes = openBytes
    }

    /// Whose turn it is; nil if nobody may have one.
    private func next() -> CallLine? {
        lines.lastIndex { !$0.isCrowded }.map { lines.remove(at: $0) }
    }

    /// Serves what is first in `line`. `time` is when that begins, and becomes when it has ended.
    private func serve(_ line: CallLine, _ time: inout Int64) {
        now = max(now, line.turn ?? now)
        line.turn = nil
        switch line.removeFirst() {
        case .message(let message, let connection, let account):
            forget(message)
            // What somebody said before it broke a rule counts no more than what came after.
            guard !connection.isClosed else {
                if message.kind == .call { line.closed(message) }
                break
            }
            MainLoop.charge(account ?? line.account) {
                if message.kind == .call, let caller = line.caller {
                    connection.begin(message, from: caller, in: line)
                } else {
                    connection.takeEffect(message)
                }
            }
        case .end(let body): MainLoop.start { body() }
        case nil: break
        }
        let begun = time
        time = MainLoop.now
        lastTime = time - begun
        line.used(lastTime)
        line.leaveIfDone()
        queue(line)
    }
}
