// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// `org.example.Handoff.Preferences`: what the user has chosen.
@MainLoop
final class PreferencesObject: PreferencesServer {
    private unowned let broker: Broker

    init(_ broker: Broker) { self.broker = broker }

    var enabled: Bool { broker.preferences.isEnabled }
    var showUnhandledOffers: Bool { broker.preferences.showsUnhandled }
    var deviceName: String { broker.preferences.deviceName }
    var port: UInt16 { broker.preferences.port }

    func setEnabled(_ enabled: Bool, _ call: MethodCall) async throws { try broker.setEnabled(enabled, call) }

    func setShowUnhandledOffers(_ shows: Bool, _ call: MethodCall) async throws {
        guard shows != showUnhandledOffers else { return }
        try broker.preferences.setShowsUnhandled(shows)
        let actions = broker.remoteOffers.setShowsUnhandled(shows)
        call.afterReply { [weak broker] in
            broker?.tellPreferences(["ShowUnhandledOffers"])
            broker?.peers.perform(actions)
        }
    }

    func setDeviceName(_ name: String, _ call: MethodCall) async throws {
        guard name != deviceName else { return }
        try broker.preferences.setDeviceName(name)
        call.afterReply { [weak broker] in broker?.tellPreferences(["DeviceName"]) }
    }

    func setPort(_ port: UInt16, _ call: MethodCall) async throws {
        guard port != self.port else { return }
        try broker.preferences.setPort(port)
        call.afterReply { [weak broker] in broker?.tellPreferences(["Port"]) }
    }
}
