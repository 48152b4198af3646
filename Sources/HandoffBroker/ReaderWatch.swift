// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// Watches whether clients read what the broker sends them, and has the broker forget those that do not.
@MainLoop
final class ReaderWatch: DeliveryObserver {
    private unowned let broker: Broker
    private var readers = Readers()

    init(_ broker: Broker) { self.broker = broker }

    /// `name` wants to be told of things, now or again.
    func welcome(_ name: BusName) { readers.welcome(name.text) }

    /// `name` has left the bus.
    func vanished(_ name: BusName) { readers.vanished(name.text) }

    // MARK: DeliveryObserver

    // The bridge is no client: what it does not answer, its peers' continuations run into.
    func maySend(to name: BusName) -> Bool { name == broker.bridge || !readers.isForgotten(name.text) }

    func sent(_ serial: UInt32, to name: BusName, isCall: Bool) {
        // Of one that has left nobody would take out again what is counted.
        guard name != broker.bridge, broker.bus.knows(name) else { return }
        perform(readers.sent(serial, to: name.text, isCall: isCall))
    }

    func answered(_ serial: UInt32, by name: BusName) { readers.answered(serial, by: name.text) }

    func abandoned(_ serial: UInt32, to name: BusName) { readers.abandoned(serial, to: name.text) }

    func unanswered(_ serial: UInt32, by name: BusName) {
        perform(readers.unanswered(serial, by: name.text))
    }

    func subscribed(_ name: BusName) { welcome(name) }

    // MARK: Actions

    /// By way of the main loop: whoever sends is in the middle of something.
    private func perform(_ actions: [Readers.Action]) {
        for action in actions {
            MainLoop.start { [weak self] in
                switch action {
                case .ping(let connection): await self?.ping(connection)
                case .forget(let connection): self?.forget(connection)
                }
            }
        }
    }

    private func ping(_ connection: String) async {
        guard let name = try? BusName(connection) else { return }
        // Whether it is answered, and not what with, is what counts, and is counted where calls are.
        _ = try? await RemoteObject(broker.connection, name, .root).call(
            .peer, "Ping", output: "", timeout: Deadline.ping
        ) { (_) throws(DBusError) in }
    }

    private func forget(_ connection: String) {
        guard let name = try? BusName(connection), readers.isForgotten(connection) else { return }
        let applicationID = broker.registry.registration(of: connection)?.applicationID
        brokerLog.warning(
            "\(applicationID.map { "\($0) (\(name))" } ?? name.text) does not read what it is sent: it is"
                + " forgotten until it registers again.")
        broker.forget(name)
    }
}
