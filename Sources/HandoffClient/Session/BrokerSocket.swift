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
    private var openedAt: Int64 = 0
    private var isOpen = false

    /// If this is in the environment, all is said on the bus, where it can be watched.
    private static let stayOnBus = "HANDOFF_STAY_ON_BUS"
    /// A socket that has lasted for less than this, in microseconds, is not replaced.
    private static let leastTime: Int64 = 10_000_000
    /// From now on `broker` is talked to by a socket, if it has one for this process.
    /// - Parameter ended: called once if the broker ends that.
    func open(to broker: Daemon, ended: @escaping @MainLoop () -> Void) async {
        let isNew = broker.name != self.broker
        guard Sandbox.own == nil, getenv(Self.stayOnBus) == nil,
            isNew || !isOpen && MainLoop.now - openedAt >= Self.leastTime
        else { return }
        (self.broker, openedAt, isOpen) = (broker.name, MainLoop.now, true)
        do {
            let descriptor = try await broker.manager.open()
            let socket = AttachedSocket(descriptor, to: broker.name, .daemon)
            // It belongs to the connection, which must not belong to it.
            socket.onEnded = { [weak self, name = broker.name] in
                if self?.broker == name { self?.isOpen = false }
                ended()
            }
            broker.bus.connection.attach(socket)
        } catch {
            if self.broker == broker.name { isOpen = false }
            HandoffClient.log.debug(
                "The broker is talked to on the bus: \(DBusError.converting(error).message)")
        }
    }
}
