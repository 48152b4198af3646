// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Lets the calls of all senders have their turns, so that none of them holds up another one for longer than a call takes,
/// however much it calls.
///
/// Whoever has used least time is served first (start-time fair queueing: Goyal, Vin, Cheng, 1996). What a sender has used
/// counts only while others wait. Nothing is served whose answer would have to wait behind much that is unsent. While nothing
/// waits, a call begins at once.
@MainLoop
final class CallTurns {
    /// The turns of everything that runs on the main loop.
    static let shared = CallTurns()

    /// How many calls of one sender may be without an answer.
    private static let maximumCalls = 16_384
    /// How many bytes the calls of one sender may take that are without an answer, and those of all senders.
    private static let (maximumBytes, maximumBytesOfAll) = (16 << 20, 32 << 20)
    /// What is taken of a sender however much others have open.
    private static let leastBytes = 64 << 10

    /// Those that have something that waits and may have its turn.
    private var lines: [CallLine] = []
    /// The tag of the latest that has had its turn.
    private var now: Int64 = 0
    private var isScheduled = false
    /// How many bytes calls take that have no answer, and of how many senders.
    private var (openBytes, openLines) = (0, 0)

    /// How long a call has just taken, in microseconds, but a millisecond at least and fifty at most.
    var readingTime: Int64 { min(max(1000, lastTime), 50_000) }
    private var lastTime: Int64 = 0

    /// Somebody's call has taken so many microseconds.
    func took(_ time: Int64) { lastTime = time }

    /// How many bytes of answers all senders together may not have read.
    var unread = 0

    /// Whether anything waits.
    var isBusy: Bool { !lines.isEmpty }

    /// `call` has come: it begins at once, or when it is its turn.
    /// - Returns: why it is refused; nil if it is taken.
    func take(_ call: Message, from line: CallLine, on connection: Connection) -> DBusError? {
        guard connection.isPast || hasRoom(call.length, of: line) else { return Self.tooMany }
        if line.isDeaf { return CallLine.deaf }
        if line.openBytes == 0 { openLines += 1 }
        openBytes += call.length
        line.opened(call.length)
        guard let caller = line.caller, line.isEmpty, lines.isEmpty, MainLoop.waitingJobs == 0,
            !connection.isCrowded, !line.mustRead
        else {
            wait(call, in: line, on: connection)
            return nil
        }
        line.tag = max(line.tag, now)
        MainLoop.charge(MainLoop.account ?? line.account) { connection.begin(call, from: caller, in: line) }
        return nil
    }

    private static let tooMany = DBusError.limitsExceeded(
        "Too many of your calls have no answer yet. Wait for the answers.")

    /// `message`, no call, takes effect after the calls of `line`.
    func wait(_ message: Message, in line: CallLine, on connection: Connection) {
        let wasEmpty = line.isEmpty
        line.append(.message(message, connection, MainLoop.account))
        if wasEmpty, line.caller != nil { ready(line) }
    }

    /// What waits in `line` may have its turn from now on.
    func ready(_ line: CallLine) {
        guard !line.isEmpty else { return }
        line.tag = max(line.tag, now)
        lines.append(line)
        goOn()
    }

    /// There is room again for what waits.
    func goOn() {
        guard !isScheduled, !lines.isEmpty else { return }
        isScheduled = true
        MainLoop.charge(nil) { _ = MainLoop.start { [weak self] in self?.serveNext() } }
    }

    /// Whether a call that comes by the bus, which cannot be left unread for one sender's sake, is taken.
    private func hasRoom(_ bytes: Int, of line: CallLine) -> Bool {
        guard line.openCalls < Self.maximumCalls else { return false }
        let ofLine = line.openBytes + bytes
        guard ofLine > Self.leastBytes else { return true }
        // One alone may be long.
        let share = min(Self.maximumBytes, Self.maximumBytesOfAll / max(1, openLines))
        return openBytes + bytes <= Self.maximumBytesOfAll && (ofLine <= share || line.openBytes == 0)
    }

    func closed(_ bytes: Int, isLast: Bool) {
        openBytes -= bytes
        if isLast { openLines -= 1 }
    }

    private func serveNext() {
        isScheduled = false
        var best: Int?
        for (index, line) in lines.enumerated() where !line.isEmpty && !line.isCrowded {
            if best.map({ line.tag < lines[$0].tag }) ?? true { best = index }
        }
        guard let best else {
            lines.removeAll { $0.isEmpty }
            return
        }
        let line = lines[best]
        now = max(now, line.tag)
        switch line.removeFirst() {
        case .message(let message, let connection, let account):
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
        line.leaveIfDone()
        if line.isEmpty { lines.removeAll { $0 === line } }
        // What has begun uses its time before the next one is chosen.
        goOn()
    }
}
