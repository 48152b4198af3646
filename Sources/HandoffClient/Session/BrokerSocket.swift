// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The way of a client to the broker past the bus daemon, where both can: `Manager.Open`.
@MainLoop
final class BrokerSocket {
    private var broker: BusName?
    /// Whether another socket to that broker would be of no use, since there is one, or none that lasts.
    private var isTried = false

    /// How long the broker may take, which has just answered, before it is talked to on the bus. If it answers later, it finds
    /// that nobody has the other end.
    private static let patience = Duration.seconds(5)
    /// If this is in the environment, all is said on the bus, where it can be watched.
    private static let stayOnBus = "HANDOFF_STAY_ON_BUS"

    /// From now on `broker` is talked to by a socket, if it has one for this process.
    /// - Parameter ended: called once if the broker ends that.
    func open(to broker: Daemon, ended: @escaping @MainLoop () -> Void) async {
        guard Sandbox.own == nil, getenv(Self.stayOnBus) == nil, !isTried || broker.name != self.broker else {
            return
        }
        (self.broker, isTried) = (broker.name, true)
        do {
            let end = try await broker.manager.open(timeout: Self.patience)
            let socket = AttachedSocket(end, to: broker.name, .toDaemon)
            // It belongs to the connection, which must not belong to it.
            socket.onEnded = { [weak self, weak socket, name = broker.name] in
                if let self, self.broker == name { isTried = socket?.hasLasted != true }
                ended()
            }
            broker.bus.connection.attach(socket)
        } catch {
            HandoffClient.log.debug(
                "The broker is talked to on the bus: \(DBusError.converting(error).message)")
        }
    }
}
