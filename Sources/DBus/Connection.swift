// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop
internal import Platform

/// One end of a message channel: calls, signals, and the objects that it serves.
@MainLoop
package final class Connection {
    /// The objects that the other side can call.
    package let objects: ObjectTree
    /// Decides who may do what with the objects. Until this is set, everything is denied.
    package var policy: any AccessPolicy {
        get { objects.policy }
        set { objects.policy = newValue }
    }
    /// Called once, with the reason, when the channel has ended.
    package var onClosed: (@MainLoop (DBusError) -> Void)?
    /// Called when a call of this caller has been refused.
    package var onRefused: @MainLoop (Message, Caller, DBusError) -> Void = { _, _, _ in }

    /// The observer that is told of calls and signals to single connections of a bus.
    package weak var observer: (any DeliveryObserver)? {
        didSet { replies.observer = observer }
    }

    /// The gate that decides when calls run; nil if they run at once.
    package weak var gate: (any CallGate)?

    /// Whether nothing should be done that adds to what waits to be sent.
    var isCrowded: Bool { channel?.isCrowded == true }

    private weak var channel: (any MessageChannel)?
    /// Knows whose messages come; without it none is taken.
    package weak var directory: (any Directory)?
    /// The connection to a bus that this one is a way past; nil if it is none.
    private weak var main: Connection?
    /// Whether this is a way past a bus.
    var isPast: Bool { main != nil }
    /// The ways past the bus to some of its connections.
    private var sockets: [BusName: AttachedSocket] = [:]
    private let replies = ReplyTable()
    private let listeners = Listeners()
    private var closingError: DBusError?
    private let log = Log(domain: "dbus")

    /// How long a call waits for its reply if it may have to wait for somebody, as for a program to start.
    package nonisolated static let defaultTimeout = Duration.seconds(25)
    /// How long all other calls wait unless they say otherwise.
    package var patience = defaultTimeout

    /// Makes the end of `channel`, which owns it.
    package init(_ channel: any MessageChannel) {
        self.channel = channel
        objects = ObjectTree()
        objects.connection = self
    }

    /// Makes the end of `channel`, a way past the bus that `main` is on: it serves the same objects, to the same callers.
    init(_ channel: any MessageChannel, past main: Connection) {
        (self.channel, self.main, directory) = (channel, main, main.directory)
        (objects, gate) = (main.objects, main.gate)
    }

    /// Whether the channel has ended.
    package var isClosed: Bool { closingError != nil }

    // MARK: Sending

    /// Queues a message for which no reply is awaited.
    @discardableResult
    package func send(_ message: Message) throws(DBusError) -> UInt32 {
        if let way = way(of: message) { return try way.pass(message) }
        guard let observer, let name = message.observedDestination else { return try pass(message) }
        guard observer.maySend(to: name) else {
            throw DBusError(.noReply, "\(name) does not read what it is sent. Nothing more is sent to it.")
        }
        let serial = try pass(message)
        observer.sent(serial, to: name, isCall: message.kind == .call && message.wantsReply)
        return serial
    }

    /// Queues `message` for this very channel.
    private func pass(_ message: Message) throws(DBusError) -> UInt32 {
        if let closingError { throw closingError }
        guard let channel else { throw DBusError(.disconnected, "The connection is closed.") }
        return try channel.send(message)
    }

    /// The way past the bus that `message` goes by; nil if it goes by the bus.
    private func way(of message: Message) -> Connection? {
        if sockets.isEmpty { return nil }
        return message.uniqueDestination.flatMap { sockets[$0]?.connection }
    }

    /// Queues a signal or a reply; if that fails, it is only logged.
    package func post(_ message: Message) {
        do { try send(message) } catch { log.debug("A message was not sent: \(error.message)") }
    }

    /// Sends `call` and waits for its reply.
    /// - Throws: the error that the other side answered; `NoReply` after `timeout`; `Disconnected`;
    ///   `CancellationError` as soon as the task is cancelled.
    package func call(_ call: Message, timeout: Duration? = nil) async throws -> Message {
        try Task.checkCancellation()
        if let way = way(of: call) { return try await way.call(call, timeout: timeout) }
        let serial = try send(call)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                // A channel may notice that it has ended only when it sends.
                if let closingError { return $0.resume(throwing: closingError) }
                replies.add(
                    serial, to: call.uniqueDestination, timeout: timeout ?? patience,
                    call.method, $0)
            }
        } onCancel: {
            MainLoop.start { self.replies.cancel(serial) }
        }
    }

    /// `message`, which was queued, is not sent, because of `why`: whoever waits for it, or for its answer, is told.
    func notSent(_ message: Message, _ why: String) {
        let error = DBusError.limitsExceeded("No descriptors can be sent now: \(why). Try again.")
        log.debug("A message was not sent: \(error.message)")
        if message.kind == .call { return replies.cancel(message.serial, error) }
        if let answer = try? Message.error(error, inPlaceOf: message) { postHere(answer) }
    }

    // MARK: Ways past the bus

    /// From now on, all that is for `socket`'s name goes by `socket`, in place of a former one, and what comes by it counts
    /// as that name's.
    package func attach(_ socket: AttachedSocket) {
        detach(socket.name)
        guard closingError == nil else { return socket.release() }
        sockets[socket.name] = socket
        socket.begin(past: self)
    }

    /// Ends the socket to `name`, if there is one, from this side: nothing that is unread on it counts.
    package func detach(_ name: BusName) { sockets.removeValue(forKey: name)?.release() }

    /// `name` has left the bus: what it has left on a socket counts, and then the socket ends, and `ended` is called.
    /// - Returns: whether there is one.
    func finish(_ name: BusName, _ ended: @escaping @MainLoop () -> Void) -> Bool {
        guard let socket = sockets[name] else { return false }
        socket.finish(ended)
        return true
    }

    func detached(_ socket: AttachedSocket) {
        if sockets[socket.name] === socket { sockets[socket.name] = nil }
    }

    // MARK: Receiving

    /// What is known of a reply to the call with `serial`, for channels that accept replies depending on
    /// that.
    package func standing(ofReplyTo serial: UInt32) -> ReplyStanding { replies.standing(of: serial) }

    /// A reply to the call with `serial` has come too late and was dropped; from now on, another reply to it
    /// counts as unknown.
    package func dropped(lateReplyTo serial: UInt32) { replies.forgetLate(serial) }

    /// Makes sure that the body of `message` is what its types claim, at the expense of whoever waits for it.
    func check(_ message: Message) throws(DBusError) {
        try MainLoop.charge(replies.account(of: message.replySerial)) { () throws(DBusError) in
            try message.checkBody()
        }
    }

    /// Takes what arrived on the channel.
    package func received(_ message: Message) {
        let turns = CallTurns.shared
        if message.kind == .call {
            guard let line = directory?.line(of: message.sender) else { return }
            if let refusal = turns.take(message, from: line, on: self) { refuse(message, refusal, line) }
        } else if turns.isBusy, !replies.isPing(message.replySerial),
            let line = directory?.knownLine(of: message.sender)
        {
            // Whoever calls, answers and tells means it in that order: a task that began here could be overtaken.
            turns.hear(message, from: line, on: self)
        } else {
            takeEffect(message)
        }
    }

    /// Calls `body` once all that has come from `sender` has begun to take effect.
    package func afterWhatCame(from sender: BusName?, _ body: @escaping @MainLoop () -> Void) {
        if let line = directory?.knownLine(of: sender), !line.isEmpty {
            line.append(.end(body))
        } else {
            MainLoop.start { body() }
        }
    }

    /// `message`, a reply or a signal, takes effect: in a task, because calls and waiting callers run in tasks too, so that all of
    /// them take effect in the order in which they arrived.
    func takeEffect(_ message: Message) {
        switch message.kind {
        case .reply, .error:
            if !replies.resolve(message) {
                log.debug("A reply to no call of ours (\(message.replySerial)) is dropped.")
            }
        case .signal: MainLoop.start { [weak self] in self?.deliver(message) }
        case .call, nil: log.debug("A message of an unknown type is dropped.")
        }
    }

    /// Answers `call`, of which only the header need have come, with `error`. Whoever reads nothing is not even told that.
    func refuse(_ call: Message, _ error: DBusError, _ line: CallLine? = nil) {
        let line = line ?? directory?.line(of: call.sender)
        guard call.kind == .call, call.wantsReply, line?.readsNothing != true,
            let answer = try? Message.error(error, to: call)
        else { return }
        postHere(answer)
        noteAnswer(answer, to: line?.caller, line)
    }

    /// `answer` was sent to `caller`.
    private func noteAnswer(_ answer: Message, to caller: Caller?, _ line: CallLine?) {
        guard let name = caller?.name, !isPast else { return }
        line?.answered(answer.marshalledSize) { [weak self] in await self?.doesRead(name) ?? true }
    }

    /// Queues `answer` for the channel that the call has come by.
    private func postHere(_ answer: Message) {
        do { _ = try pass(answer) } catch { log.debug("A message was not sent: \(error.message)") }
    }

    private func deliver(_ signal: Message) {
        if let main { return main.deliver(signal) }
        do { try signal.checkBody() } catch { return log.debug("A signal is dropped: \(error.message)") }
        listeners.tell(signal)
    }

    /// Calls `body` with each signal of the name. The caller makes sure that they arrive, by adding match
    /// rules.
    package func onSignal(
        _ interface: InterfaceName, _ member: MemberName? = nil, _ body: @escaping @MainLoop (Message) -> Void
    ) -> SignalToken {
        listeners.add(interface, member, body)
    }

    /// Says that the channel has ended: calls that wait fail with `error`.
    package func closed(_ error: DBusError) {
        guard closingError == nil else { return }
        closingError = error
        for socket in sockets.values { socket.release() }
        sockets = [:]
        replies.failAll(error)
        onClosed?(error)
        listeners.tell(error)
        // A way past a bus serves what its connection to the bus does.
        if main == nil { objects.end() }
    }

    /// Calls `body` once, with the reason, when the channel has ended, beside ``onClosed``.
    package func whenClosed(_ body: @escaping @MainLoop (DBusError) -> Void) -> SignalToken {
        listeners.add(body)
    }

    /// Whether `name` answers a call within five seconds, and so has read what came before that.
    private func doesRead(_ name: BusName) async -> Bool {
        do {
            let question = try Message.call(to: name, .root, .peer, "Ping")
            // Only who has read the question knows its number.
            question.setSerial(UInt32.random(in: 1 << 16...UInt32.max))
            _ = try await call(question, timeout: .seconds(5))
            return true
        } catch {
            // Whoever does not know the question has read it; other errors may be the bus's.
            return [.unknownMethod, .unknownObject, .unknownInterface].contains(
                DBusError.converting(error).name)
        }
    }

    // MARK: Calls

    /// `call` has its turn: it begins now, or once the gate lets it.
    func begin(_ call: Message, from caller: Caller, in line: CallLine) {
        guard let gate, gate.concerns(caller) else { return start(call, from: caller, in: line) }
        let asking = GateQuestion()
        gate.admit(call, from: caller) { [weak self] refusal in
            self?.start(call, from: caller, in: line, refusal: refusal, isLate: !asking.isNow)
        }
        asking.isNow = false
    }

    /// Runs `call`, now unless it `isLate`: many such calls may be let through at once, so each has a job of its own. What comes
    /// from `line` before that does not overtake it.
    private func start(
        _ call: Message, from caller: Caller, in line: CallLine, refusal: DBusError? = nil,
        isLate: Bool = false
    ) {
        guard isLate || line.lateCalls > 0 else {
            return run(call, from: caller, in: line, refusal: refusal)
        }
        line.lateCalls += 1
        MainLoop.start { [weak self] in
            line.lateCalls -= 1
            self?.run(call, from: caller, in: line, refusal: refusal)
        }
    }

    /// Runs `call`, here and now unless it waits for something: what a handler does before it first waits takes effect in the
    /// order of arrival.
    private func run(_ call: Message, from caller: Caller, in line: CallLine, refusal: DBusError?) {
        var begun: MethodCall?
        do {
            if let refusal { throw refusal }
            switch try objects.begin(call, from: caller, began: { begun = $0 }) {
            case .done(let answer): end(call, answer, begun, caller, line)
            case .waits(let body):
                // What it causes happens even if nobody can be answered any longer.
                MainLoop.start { [self, begun] in
                    let result = await Result { try await body() }
                    end(call, answer(result, to: call, caller), begun, caller, line)
                }
            }
        } catch {
            end(call, answer(.failure(error), to: call, caller), begun, caller, line)
        }
    }

    /// What `call` is answered, which has ended so; nil if nobody wants to know.
    private func answer(
        _ result: Result<Message, any Error>, to call: Message, _ caller: Caller
    ) -> Message? {
        do {
            return try result.get()
        } catch {
            let error = DBusError.converting(error)
            log.debug("\(caller.label): \(call.member ?? "?") refused: \(error.message) (\(error.name))")
            onRefused(call, caller, error)
            return call.wantsReply ? try? Message.error(error, to: call) : nil
        }
    }

    /// `call` has ended: it is answered, and then what it causes happens.
    private func end(
        _ call: Message, _ answer: Message?, _ begun: MethodCall?, _ caller: Caller, _ line: CallLine
    ) {
        if let answer, call.wantsReply {
            postHere(answer)
            noteAnswer(answer, to: caller, line)
        }
        begun?.runEffects()
        line.closed(call)
    }
}
