// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// Whoever sends messages by a connection, and what of those waits for its turn.
@MainLoop
package final class CallLine {
    /// Something that has come, and takes effect in order.
    enum Arrival {
        /// A message of this connection; what follows from it is at the expense of the account.
        case message(Message, Connection, TimeAccount?)
        /// Nothing more is to come by a channel.
        case end(@MainLoop () -> Void)

        fileprivate var message: Message? {
            if case .message(let message, _, _) = self { message } else { nil }
        }
    }

    /// Who that is; nil until it has been found out.
    package private(set) var caller: Caller?

    /// When it may have its turn, by a clock that counts what senders have used: the least is served first.
    var tag: Int64 = 0
    /// The tag with which it waits for its turn; nil if it does not.
    var turn: Int64?
    /// How many calls have come and are not answered, and about how many bytes they take.
    private(set) var (openCalls, openBytes) = (0, 0)
    /// How many bytes wait for their turn.
    private var waitingBytes = 0
    /// How many calls a gate has let through that have yet to run.
    var lateCalls = 0
    /// Called when it ``isFull`` no longer.
    var onRoom: (@MainLoop () -> Void)?
    /// What it may not have read of what it was answered on a bus.
    private var unread = UnreadAnswers() {
        didSet {
            CallTurns.shared.unread += unread.bytes - oldValue.bytes
            if unread.forgiven < oldValue.forgiven {
                CallTurns.shared.forgiveness.giveBack(oldValue.forgiven - unread.forgiven)
            }
        }
    }
    /// How long what waits may still run, in microseconds, now that the sender has left.
    private var timeLeft: Int64?
    private var waiting: [Arrival] = []
    /// Where what waits begins in that.
    private var head = 0
    private var identified: [@MainLoop (Caller) -> Void] = []
    private var onLeft: (@MainLoop () -> Void)?
    /// What runs because of it counts here.
    private(set) lazy var account = TimeAccount(countsJobs: true) { [weak self] in self?.used($0 / 1000) }

    /// How much may wait before a channel that is this sender's alone rests.
    private static let (comfortableCount, comfortableBytes) = (4096, 4 << 20)
    /// How long what somebody has left behind may take, in microseconds.
    private static let parting: Int64 = 20_000

    /// The line of `caller`; of somebody who is still to be identified if that is nil.
    package init(_ caller: Caller?) { self.caller = caller }

    // A gate may have dropped calls of a sender that has left.
    isolated deinit {
        if openBytes > 0 { CallTurns.shared.closed(openBytes, isLast: true) }
        for arrival in waiting[head...] {
            if let message = arrival.message { CallTurns.shared.forget(message) }
        }
        CallTurns.shared.unread -= unread.bytes
        CallTurns.shared.forgiveness.giveBack(unread.forgiven)
    }

    var isEmpty: Bool { head == waiting.count }
    /// Whether so much waits that nothing should be read that adds to it.
    var isFull: Bool {
        waiting.count - head > Self.comfortableCount || waitingBytes > Self.comfortableBytes
    }
    /// Whether what comes next would add to what waits to be sent, which is too much already.
    var isCrowded: Bool {
        guard !isEmpty, case .message(let message, let connection, _) = waiting[head] else { return false }
        return message.kind == .call && (connection.isCrowded || mustRead)
    }

    /// Whether it has to read what it was answered before it is answered more.
    var mustRead: Bool { unread.isTooMuch(ofAll: CallTurns.shared.unread) }
    /// Whether it has left so much unread that it need not be told so.
    var readsNothing: Bool { unread.isHopeless }
    /// Whether that is not to be waited for either, since it did not read in time. Who is read slowly, and says nothing, is
    /// answered slowly.
    var isDeaf: Bool {
        guard mustRead, !unread.isWaiting else { return false }
        let wanted = unread.bytes - UnreadAnswers.most / 2
        let count = wanted > 0 ? CallTurns.shared.forgiveness.take(wanted, at: MainLoop.now) : 0
        if count > 0 { unread.forgive(count) }
        return mustRead
    }

    /// Something that runs because of it has taken so many microseconds.
    func used(_ time: Int64) {
        tag += time
        timeLeft? -= time
    }

    // MARK: Who it is

    /// Calls `body` as soon as it is known who this is, which is before what waits is served.
    func whenIdentified(_ body: @escaping @MainLoop (Caller) -> Void) {
        if let caller { body(caller) } else { identified.append(body) }
    }

    /// Now it is known who this is.
    func identify(_ caller: Caller) {
        self.caller = caller
        let bodies = identified
        identified = []
        for body in bodies { body(caller) }
        CallTurns.shared.ready(self)
    }

    // MARK: What waits

    /// How many calls have begun and are not answered.
    var begunCalls: Int { openCalls - (waiting.count - head) }

    /// `call` has come.
    func opened(_ call: Message) {
        openCalls += 1
        openBytes += call.weight
    }

    /// It has been answered, or is not going to be.
    func closed(_ call: Message) {
        openCalls -= 1
        openBytes -= call.weight
        CallTurns.shared.closed(call.weight, isLast: openBytes == 0)
    }

    // MARK: What it reads

    /// An answer of so many bytes was sent to it on a bus, where it can be `asked` whether it reads.
    func answered(_ bytes: Int, _ ask: @escaping @MainLoop () async -> Bool) {
        guard unread.sent(bytes, ofAll: CallTurns.shared.unread) else { return }
        MainLoop.charge(nil) {
            _ = MainLoop.start { [weak self] in
                let hasAnswered = await ask()
                self?.unread.asked(hasAnswered: hasAnswered)
                self?.refuseIfDeaf()
                CallTurns.shared.goOn()
            }
        }
    }

    /// Whoever does not read in time what it was answered is not waited for.
    private func refuseIfDeaf() {
        guard isDeaf else { return }
        drop { message in
            message.kind == .call
        } saying: {
            $1.refuse($0, Self.deaf)
        }
    }

    /// Why somebody is not answered.
    static let deaf = DBusError.limitsExceeded(
        "You have left more than 4 MiB of answers unread. Read them, then call again.")

    func append(_ arrival: Arrival) {
        waiting.append(arrival)
        waitingBytes += arrival.message?.length ?? 0
    }

    func removeFirst() -> Arrival? {
        guard !isEmpty else { return nil }
        let (first, wasFull) = (waiting[head], isFull)
        // What is served is not kept until the others are.
        waiting[head] = .end {}
        head += 1
        waitingBytes -= first.message?.length ?? 0
        if isEmpty {
            waiting.removeAll(keepingCapacity: waiting.capacity <= 64)
            head = 0
        } else if head >= 1024, head > waiting.count / 2 {
            waiting.removeFirst(head)
            head = 0
        }
        if wasFull, !isFull { onRoom?() }
        return first
    }

    // MARK: The end

    /// Whether the sender has left, and what it has left behind has yet to take effect.
    package var hasLeft: Bool { timeLeft != nil }

    /// The sender has left. What it has left behind counts as far as that changes something and takes little time; questions are
    /// not answered. Calls `done` then.
    func leave(_ done: @escaping @MainLoop () -> Void) {
        onLeft = done
        timeLeft = Self.parting
        let isKnown = caller != nil
        drop { !isKnown || $0.isQuestion }
        leaveIfDone()
    }

    /// Says that it has left once nothing waits any longer, or not in time.
    func leaveIfDone() {
        guard let timeLeft, let onLeft else { return }
        if timeLeft <= 0 { drop { _ in true } }
        guard isEmpty else { return }
        self.onLeft = nil
        // What was begun last comes first.
        MainLoop.start { onLeft() }
    }

    /// Has the messages that are `unwanted` count for nothing.
    private func drop(
        _ unwanted: (Message) -> Bool, saying refuse: (Message, Connection) -> Void = { _, _ in }
    ) {
        let (rest, wasFull) = (waiting[head...], isFull)
        defer { if wasFull, !isFull { onRoom?() } }
        (waiting, head, waitingBytes) = ([], 0, 0)
        for arrival in rest {
            if case .message(let message, let connection, _) = arrival, unwanted(message) {
                CallTurns.shared.forget(message)
                if message.kind == .call { closed(message) }
                refuse(message, connection)
            } else {
                append(arrival)
            }
        }
        guard timeLeft.map({ $0 <= 0 }) == true || caller == nil else { return }
        // Only ends are left.
        let ends = waiting
        waiting = []
        for case .end(let body) in ends { MainLoop.start { body() } }
    }
}

extension Message {
    /// About how much memory it takes.
    var weight: Int { length + 512 }

    /// Whether it is a call that asks, and changes nothing.
    fileprivate var isQuestion: Bool {
        guard kind == .call, isStandard else { return false }
        return interface != InterfaceName.properties.text || member != "Set"
    }
}
