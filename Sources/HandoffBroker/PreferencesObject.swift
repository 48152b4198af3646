// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

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
    /// The user excludes these applications and no others, once ``exclude()`` has been called too.
    func setExcludedApplications(_ excluded: ExcludedApplications) throws
    /// Which applications are excluded has changed: what that causes.
    func exclude()
    /// The user has switched off these adapters and no others, once who can continue what has been looked up again.
    func setDisabledAdapters(_ adapters: Set<AdapterName>) throws
    /// The documents that are brought over.
    var documents: ReceivedDocuments { get }
}

extension Broker: PreferencesOwner {}

/// `org.example.Handoff.Preferences`: what the user has chosen.
@MainLoop
final class PreferencesObject: PreferencesServer {
    fileprivate let owner: any PreferencesOwner

    init(_ owner: any PreferencesOwner) { self.owner = owner }

    var enabled: Bool { owner.preferences.isEnabled }
    var showUnhandledOffers: Bool { owner.preferences.showsUnhandled }
    var deviceName: String { owner.preferences.deviceName }
    var port: UInt16 { owner.preferences.port }
    var sharedFolders: [String: String] { owner.preferences.sharedFolders.texts }

    func setEnabled(_ enabled: Bool, _ call: MethodCall) throws { try owner.setEnabled(enabled, call) }

    func setShowUnhandledOffers(_ shows: Bool, _ call: MethodCall) throws {
        guard shows != showUnhandledOffers else { return }
        try owner.preferences.setShowsUnhandled(shows)
        let actions = owner.remoteOffers.setShowsUnhandled(shows)
        call.afterReply { [weak owner] in
            owner?.tellPreferences(["ShowUnhandledOffers"])
            owner?.show(actions)
        }
    }

    func setDeviceName(_ name: String, _ call: MethodCall) throws {
        guard name != deviceName else { return }
        try owner.preferences.setDeviceName(name)
        call.afterReply { [weak owner] in owner?.tellPreferences(["DeviceName"]) }
    }

    func setPort(_ port: UInt16, _ call: MethodCall) throws {
        guard port != self.port else { return }
        try owner.preferences.setPort(port)
        call.afterReply { [weak owner] in owner?.tellPreferences(["Port"]) }
    }

    func setSharedFolders(_ folders: [String: String], _ call: MethodCall) throws {
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

    func setApplications(_ applications: [String: String], _ call: MethodCall) throws {
        var chosen: [ActivityType: ApplicationID] = [:]
        for (type, application) in applications {
            chosen[try ActivityType(type)] = try ApplicationID(application)
        }
        guard chosen != owner.preferences.applications else { return }
        try owner.preferences.setApplications(chosen)
        call.afterReply { [weak owner] in owner?.applicationsChosen() }
    }
}

// MARK: Notifications, applications, adapters, documents

extension PreferencesObject {
    var notifyOffers: String { owner.preferences.offerNotices.rawValue }

    func setNotifyOffers(_ text: String, _ call: MethodCall) throws {
        let notices = try OfferNotices(text)
        guard notices != owner.preferences.offerNotices else { return }
        try owner.preferences.setOfferNotices(notices)
        call.afterReply { [weak owner] in owner?.tellPreferences(["NotifyOffers"]) }
    }

    var notifyContinued: Bool { owner.preferences.notifiesContinued }

    func setNotifyContinued(_ notifies: Bool, _ call: MethodCall) throws {
        guard notifies != notifyContinued else { return }
        try owner.preferences.setNotifiesContinued(notifies)
        call.afterReply { [weak owner] in owner?.tellPreferences(["NotifyContinued"]) }
    }

    var excludedApplications: [String] { owner.preferences.excludedApplications.texts }

    func setExcludedApplications(_ texts: [String], _ call: MethodCall) throws {
        let excluded = try ExcludedApplications(texts)
        guard excluded != owner.preferences.excludedApplications else { return }
        try owner.setExcludedApplications(excluded)
        call.afterReply { [weak owner] in
            owner?.exclude()
            owner?.updateHandlers()
            owner?.tellPreferences(["ExcludedApplications"])
        }
    }

    var disabledAdapters: [String] { owner.preferences.disabledAdapters.sorted().map(\.description) }

    func setDisabledAdapters(_ texts: [String], _ call: MethodCall) throws {
        let adapters = try AdapterName.set(texts)
        guard adapters != owner.preferences.disabledAdapters else { return }
        try owner.setDisabledAdapters(adapters)
        call.afterReply { [weak owner] in
            owner?.updateHandlers()
            owner?.tellPreferences(["DisabledAdapters"])
        }
    }

    var documentsFolder: String { owner.preferences.documentsFolder?.text ?? "" }

    func setDocumentsFolder(_ text: String, _ call: MethodCall) throws {
        guard text != documentsFolder else { return }
        let folder = text.isEmpty ? nil : try DocumentsFolder(text, home: UserDirectories.home)
        try owner.preferences.setDocumentsFolder(folder)
        owner.documents.place(in: folder)
        owner.documents.removeAbandoned()
        call.afterReply { [weak owner] in owner?.tellPreferences(["DocumentsFolder"]) }
    }
}

extension PreferencesOwner {
    /// The user has chosen other applications for types of activities.
    func applicationsChosen() {
        tellPreferences(["Applications"])
        updateHandlers()
    }
}
