// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// What the preferences on the bus need from the session.
@MainLoop
protocol PreferencesOwner: AnyObject {
    /// What the user has chosen.
    var preferences: Preferences { get }
    /// What peers offer.
    var remoteOffers: RemoteOffers { get set }
    /// Switches Handoff on or off for the user.
    func setEnabled(_ isEnabled: Bool, _ call: MethodCall) throws
    /// Announces what has changed about offers.
    func show(_ actions: [RemoteOffers.Action])
    /// What the user has chosen has changed.
    func tellPreferences(_ names: [String])
    /// Who can continue what is looked up again.
    func updateHandlers()
}

extension Broker: PreferencesOwner {}

/// `org.example.Handoff.Preferences`: what the user has chosen.
@MainLoop
final class PreferencesObject: PreferencesServer {
    private unowned let owner: any PreferencesOwner

    init(_ owner: any PreferencesOwner) { self.owner = owner }

    var enabled: Bool { owner.preferences.isEnabled }
    var showUnhandledOffers: Bool { owner.preferences.showsUnhandled }
    var deviceName: String { owner.preferences.deviceName }
    var port: UInt16 { owner.preferences.port }
    var sharedFolders: [String: String] { owner.preferences.sharedFolders.texts }

    func setEnabled(_ enabled: Bool, _ call: MethodCall) async throws { try owner.setEnabled(enabled, call) }

    func setShowUnhandledOffers(_ shows: Bool, _ call: MethodCall) async throws {
        guard shows != showUnhandledOffers else { return }
        try owner.preferences.setShowsUnhandled(shows)
        let actions = owner.remoteOffers.setShowsUnhandled(shows)
        call.afterReply { [weak owner] in
            owner?.tellPreferences(["ShowUnhandledOffers"])
            owner?.show(actions)
        }
    }

    func setDeviceName(_ name: String, _ call: MethodCall) async throws {
        guard name != deviceName else { return }
        try owner.preferences.setDeviceName(name)
        call.afterReply { [weak owner] in owner?.tellPreferences(["DeviceName"]) }
    }

    func setPort(_ port: UInt16, _ call: MethodCall) async throws {
        guard port != self.port else { return }
        try owner.preferences.setPort(port)
        call.afterReply { [weak owner] in owner?.tellPreferences(["Port"]) }
    }

    func setSharedFolders(_ folders: [String: String], _ call: MethodCall) async throws {
        guard folders != sharedFolders else { return }
        try owner.preferences.setSharedFolders(ChosenFolders(folders))
        call.afterReply { [weak owner] in owner?.tellPreferences(["SharedFolders"]) }
    }

    var applications: [String: String] {
        Dictionary(
            uniqueKeysWithValues: owner.preferences.applications.map {
                ($0.key.description, $0.value.description)
            })
    }

    func setApplications(_ applications: [String: String], _ call: MethodCall) async throws {
        var chosen: [ActivityType: ApplicationID] = [:]
        for (type, application) in applications {
            chosen[try ActivityType(type)] = try ApplicationID(application)
        }
        guard chosen != owner.preferences.applications else { return }
        try owner.preferences.setApplications(chosen)
        call.afterReply { [weak owner] in owner?.applicationsChosen() }
    }
}

extension PreferencesOwner {
    /// The user has chosen other applications for types of activities.
    func applicationsChosen() {
        tellPreferences(["Applications"])
        updateHandlers()
    }
}
