// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Watches whether clients read what the broker sends them, and has the broker forget those that do not.
@MainLoop
final class UnreadMessagesWatch: DeliveryObserver {
    private let bus: Bus
    private let applications: Applications
    private let peers: KnownPeers
    private var unread = UnreadMessages()
    /// The connection that is being sent its last message.
    private var parting: BusName?

    /// Everything that belongs to this connection is to be dropped, since it can no longer be told of anything.
    var onNeglect: @MainLoop (BusName) -> Void = { _ in }

    /// Watches the clients on `bus`; the bridge of `peers` is none.
    init(_ bus: Bus, _ applications: Applications, _ peers: KnownPeers) {
        (self.bus, self.applications, self.peers) = (bus, applications, peers)
    }

    /// `name` wants to be told of things, now or again.
    func welcome(_ name: BusName) { unread.welcome(name.text) }

    /// `name` has left the bus.
    func vanished(_ name: BusName) { unread.vanished(name.text) }

    // MARK: DeliveryObserver

    // The bridge is not a client: if it does not answer, the continuations of its peers fail for that reason.
    func maySend(to name: BusName) -> Bool {
        peers.isBridge(name) || name == parting || !unread.isForgotten(name.text)
    }

    func sent(_ serial: UInt32, to name: BusName, isCall: Bool) {
        // If the connection has left, nobody would ever remove what is counted for it.
        guard !peers.isBridge(name), bus.knows(name) else { return }
        perform(unread.sent(serial, to: name.text, isCall: isCall))
    }

    func answered(_ serial: UInt32, by name: BusName) { unread.answered(serial, by: name.text) }

    func abandoned(_ serial: UInt32, to name: BusName) { unread.abandoned(serial, to: name.text) }

    func unanswered(_ serial: UInt32, by name: BusName) {
        perform(unread.unanswered(serial, by: name.text))
    }

    func subscribed(_ name: BusName) { welcome(name) }

    // MARK: Actions

    /// Performs the actions from the main loop, since whoever sends is in the middle of something.
    private func perform(_ actions: [UnreadMessages.Action]) {
        for action in actions {
            MainLoop.start { [weak self] in
                switch action {
                case .ping(let connection): await self?.ping(connection)
                case .forget(let connection, let neglect): self?.forget(connection, neglect)
                }
            }
        }
    }

    private func ping(_ connection: String) async {
        guard let name = try? BusName(connection) else { return }
        // It matters only whether the call is answered, not how, and that is counted where calls are.
        _ = try? await RemoteObject(bus.connection, name, .root).call(
            .peer, "Ping", output: "", timeout: Deadline.ping
        ) { (_) throws(DBusError) in }
    }

    private func forget(_ connection: String, _ neglect: UnreadMessages.Neglect) {
        guard let name = try? BusName(connection), unread.isForgotten(connection) else { return }
        let applicationID = applications.registration(of: connection)?.applicationID
        brokerLog.warning(
            "\(applicationID.map { "\($0) (\(name))" } ?? name.text) does not read what it is sent: it is"
                + " forgotten until it registers again. It left \(neglect.text).")
        onNeglect(name)
        guard let applicationID else { return }
        let reason =
            "It was forgotten, with its activities, because it left \(neglect.text). Read and answer what comes,"
            + " and call RegisterApplication again."
        applications.ended(connection, applicationID, reason)
        tellEnd(of: applicationID, to: name, reason)
    }

    /// Sends `name` its last message: that its registration as `applicationID` has ended, and why.
    func tellEnd(of applicationID: ApplicationID, to name: BusName, _ reason: String) {
        guard
            let signal = try? ManagerBinding.registrationEnded(
                from: HandoffNames.brokerPath, applicationId: applicationID.description, reason: reason),
            (try? signal.setDestination(name)) != nil
        else { return }
        parting = name
        bus.connection.post(signal)
        parting = nil
    }
}

extension UnreadMessages.Neglect {
    /// What the connection neglected, worded to follow "it left".
    fileprivate var text: String {
        switch self {
        case .unansweredCalls: "\(Quota.unansweredCalls) calls in a row unanswered"
        case .unreadMessages(let count): "\(count) messages unread"
        }
    }
}
