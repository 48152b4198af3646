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

    /// The observer that is told of calls and signals to single connections of a bus.
    package weak var observer: (any DeliveryObserver)? {
        didSet { replies.observer = observer }
    }

    /// The gate that decides when calls run; nil if they run at once.
    package weak var gate: (any CallGate)?

    private weak var channel: (any MessageChannel)?
    /// The ways past the bus to some of its connections.
    private var sockets = AttachedSockets()
    private let replies = ReplyTable()
    private var signalHandlers: [Int: SignalHandler] = [:]
    private var closeHandlers: [Int: @MainLoop (DBusError) -> Void] = [:]
    private var nextHandler = 0
    private var closingError: DBusError?
    private let log = Log(domain: "dbus")

    private struct SignalHandler {
        let interface: InterfaceName
        let member: MemberName?
        let body: @MainLoop (Message) -> Void
    }

    /// How long a call waits for its reply unless it says otherwise.
    package nonisolated static let defaultTimeout = Duration.seconds(25)

    /// Makes the end of `channel`, which owns it.
    package init(_ channel: any MessageChannel) {
        self.channel = channel
        objects = ObjectTree()
        objects.connection = self
    }

    /// Whether the channel has ended.
    package var isClosed: Bool { closingError != nil }

    // MARK: Sending

    /// Queues a message for which no reply is awaited.
    @discardableResult
    package func send(_ message: Message) throws(DBusError) -> UInt32 {
        if let closingError { throw closingError }
        guard let channel else { throw DBusError(.disconnected, "The connection is closed.") }
        let socket = try sockets.way(of: message)
        func pass() throws(DBusError) -> UInt32 {
            if let socket { try socket.send(message) } else { try channel.send(message) }
        }
        guard let observer, let name = message.observedDestination else { return try pass() }
        guard observer.maySend(to: name) else {
            throw DBusError(.noReply, "\(name) does not read what it is sent. Nothing more is sent to it.")
        }
        let serial = try pass()
        observer.sent(serial, to: name, isCall: message.kind == .call && message.wantsReply)
        return serial
    }

    /// Queues a signal or a reply; if that fails, it is only logged.
    package func post(_ message: Message) {
        do { try send(message) } catch { log.debug("A message was not sent: \(error.message)") }
    }

    /// Sends `call` and waits for its reply.
    /// - Throws: the error that the other side answered; `NoReply` after `timeout`; `Disconnected`;
    ///   `CancellationError` as soon as the task is cancelled.
    package func call(_ call: Message, timeout: Duration = defaultTimeout) async throws -> Message {
        try Task.checkCancellation()
        let serial = try send(call)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                // A channel may notice that it has ended only when it sends.
                if let closingError { return $0.resume(throwing: closingError) }
                replies.add(
                    serial, to: call.uniqueDestination, timeout: timeout,
                    "\(call.interface ?? "").\(call.member ?? "")", awaitsDescriptor: call.awaitsDescriptor,
                    $0)
            }
        } onCancel: {
            MainLoop.start { self.replies.cancel(serial) }
        }
    }

    // MARK: Ways past the bus

    /// From now on, all that is for `socket`'s name goes by `socket`, in place of a former one, and what comes by it counts
    /// as that name's.
    package func attach(_ socket: AttachedSocket) {
        detach(socket.name)
        guard closingError == nil else { return socket.release() }
        sockets.add(socket)
        socket.begin(self, sockets.turns)
    }

    /// Ends the socket to `name`, if there is one, from this side: nothing that is unread on it counts.
    package func detach(_ name: BusName) {
        guard let former = sockets.socket(to: name) else { return }
        former.release()
        detached(former)
        former.finished()
    }

    /// `name` has left the bus: what it has left on a socket counts, and then the socket ends, and `ended` is called.
    /// - Returns: whether there is one.
    func finish(_ name: BusName, _ ended: @escaping @MainLoop () -> Void) -> Bool {
        guard let socket = sockets.socket(to: name) else { return false }
        socket.finish(ended)
        return true
    }

    func detached(_ socket: AttachedSocket) {
        guard sockets.remove(socket) else { return }
        replies.failAll(
            to: socket.name, from: AttachedSocket.firstSerial,
            DBusError(.noReply, "\(socket.name) has gone without a reply."))
    }

    /// Whether `message`, which has come by a socket, carries a descriptor, as far as what it says goes.
    func expectsDescriptor(with message: Message) -> Bool {
        switch message.kind {
        case .call: objects.takesDescriptor(message)
        case .reply: replies.awaitsDescriptor(message.replySerial)
        case .error, .signal, nil: false
        }
    }

    // MARK: Receiving

    /// What is known of a reply to the call with `serial`, for channels that accept replies depending on
    /// that.
    package func standing(ofReplyTo serial: UInt32) -> ReplyStanding { replies.standing(of: serial) }

    /// A reply to the call with `serial` has come too late and was dropped; from now on, another reply to it
    /// counts as unknown.
    package func dropped(lateReplyTo serial: UInt32) { replies.forgetLate(serial) }

    /// Takes what arrived on the channel.
    package func received(_ message: Message) {
        switch message.kind {
        case .call: receivedCall(message)
        case .reply, .error:
            if !replies.resolve(message) {
                log.debug("A reply to no call of ours (\(message.replySerial)) is dropped.")
            }
        case .signal:
            // A task, because calls and waiting callers run in tasks too: all of them take effect in the
            // order in which they arrived.
            MainLoop.start { [weak self] in self?.deliver(message) }
        case nil: log.debug("A message of an unknown type is dropped.")
        }
    }

    private func deliver(_ signal: Message) {
        for number in signalHandlers.keys.sorted() {
            guard let handler = signalHandlers[number], matches(handler, signal) else { continue }
            handler.body(signal)
        }
    }

    private func matches(_ handler: SignalHandler, _ message: Message) -> Bool {
        guard message.interface == handler.interface.text else { return false }
        return handler.member.map { message.member == $0.text } ?? true
    }

    /// Calls `body` with each signal of the name. The caller makes sure that they arrive, by adding match
    /// rules.
    package func onSignal(
        _ interface: InterfaceName, _ member: MemberName? = nil, _ body: @escaping @MainLoop (Message) -> Void
    ) -> SignalToken {
        nextHandler += 1
        signalHandlers[nextHandler] = SignalHandler(interface: interface, member: member, body: body)
        return SignalToken(self, nextHandler)
    }

    func removeSignalHandler(_ number: Int) {
        signalHandlers[number] = nil
        closeHandlers[number] = nil
    }

    /// Says that the channel has ended: calls that wait fail with `error`.
    package func closed(_ error: DBusError) {
        guard closingError == nil else { return }
        closingError = error
        sockets.release()
        replies.failAll(error)
        onClosed?(error)
        let handlers = closeHandlers.sorted { $0.key < $1.key }
        closeHandlers = [:]
        for (_, body) in handlers { body(error) }
    }

    /// Calls `body` once, with the reason, when the channel has ended, beside ``onClosed``.
    package func whenClosed(_ body: @escaping @MainLoop (DBusError) -> Void) -> SignalToken {
        nextHandler += 1
        closeHandlers[nextHandler] = body
        return SignalToken(self, nextHandler)
    }

    // MARK: Calls

    private func receivedCall(_ message: Message) {
        guard let channel else { return }
        channel.identify(senderOf: message) { [weak self] caller in
            guard let self else { return }
            guard let gate, gate.concerns(caller) else { return begin(message, from: caller) }
            gate.admit(message, from: caller) { [weak self] refusal in
                self?.begin(message, from: caller, refusal: refusal)
            }
        }
    }

    /// Starts a task for each call, in the order of arrival: what a handler does before it first waits takes effect in
    /// that order.
    private func begin(_ message: Message, from caller: Caller, refusal: DBusError? = nil) {
        MainLoop.start { [weak self] in await self?.serve(message, from: caller, refusal) }
    }

    private func serve(_ message: Message, from caller: Caller, _ refusal: DBusError?) async {
        var call: MethodCall?
        let answer: Message?
        do {
            if let refusal { throw refusal }
            answer = try await objects.handle(message, from: caller) { call = $0 }
        } catch {
            let error = DBusError.converting(error)
            log.debug("\(caller.label): \(message.member ?? "?") refused: \(error.message) (\(error.name))")
            answer = message.wantsReply ? try? Message.error(error, to: message) : nil
        }
        if let answer, message.wantsReply { post(answer) }
        call?.runEffects()
        sockets.source(of: message)?.callEnded()
    }
}

/// Keeps a signal handler alive; freeing it removes the handler.
@MainLoop
package final class SignalToken {
    private weak var connection: Connection?
    private let number: Int

    init(_ connection: Connection, _ number: Int) {
        self.connection = connection
        self.number = number
    }

    isolated deinit { connection?.removeSignalHandler(number) }
}
