internal import DBus
// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffClient
package import MainLoop
internal import Platform

/// Sends what is current here to a peer.
@MainLoop
package final class CurrentActivitySending {
    private let feed: StatusFeed
    private let log = Log(domain: "panel")

    /// Sends by way of the bridge that `feed` knows.
    package init(_ feed: StatusFeed) { self.feed = feed }

    /// Sends it to the device `deviceID`, if that is still a peer. What becomes of it is in the device's properties.
    package func send(to deviceID: String) {
        guard let bridge = feed.bridge,
            let path = feed.report.peers.first(where: { $0.id == deviceID })?.path
        else { return }
        let log = log
        MainLoop.start {
            do {
                _ = try await bridge.object(path).call(
                    "org.example.Handoff.Device", "Send", output: ""
                ) { (_) throws(DBusError) in }
            } catch {
                log.warning(
                    "What is current here was not sent: \(DBusError.converting(error).message)")
            }
        }
    }
}
