// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
internal import HandoffInterfaces
internal import MainLoop

extension RemoteOffer {
    /// How long a device may take to say what is open there: longer than the daemons wait for that.
    private static let patience = Duration.seconds(15)

    /// What is open at `device` of `bridge`, the latest used first, as `broker` describes it; also what nothing here continues. What
    /// has been closed there meanwhile is left out.
    /// - Throws: the error with which the bridge or the broker answers.
    @MainLoop
    package static func open(
        at device: ObjectPath, of bridge: Daemon, _ broker: Daemon
    ) async throws -> [RemoteOffer] {
        var offers: [RemoteOffer] = []
        let interface = RemoteActivityProxy.interface
        for path in try await DeviceProxy(bridge.object(device)).listActivities(timeout: patience) {
            do {
                let properties = try await broker.properties(interface, path)
                if let offer = RemoteOffer(path, [interface.text: properties]) { offers.append(offer) }
            } catch let error as DBusError where error.name == .unknownObject {
                continue
            }
        }
        return offers
    }
}
