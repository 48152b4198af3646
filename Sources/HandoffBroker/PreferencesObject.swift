// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// `org.example.Handoff.Preferences`: what the user has chosen.
@MainLoop
final class PreferencesObject: PreferencesServer {
    private unowned let session: any SessionEvents
    private let sessionApplications: Applications
    private let offers: Offers
    private let documents: ReceivedDocuments
    private let announcements: Announcements
    private let clipboards: Clipboards
    private var preferences: Preferences { sessionApplications.preferences }

    init(
        _ session: any SessionEvents, _ applications: Applications, _ offers: Offers,
        _ documents: ReceivedDocuments, _ announcements: Announcements, _ clipboards: Clipboards
    ) {
        (self.session, sessionApplications, self.offers) = (session, applications, offers)
        self.clipboards = clipboards
        (self.documents, self.announcements) = (documents, announcements)
    }

    /// Tells of what the user has chosen, once `call` has been answered.
    private func tell(_ name: String, after call: MethodCall) {
        call.afterReply { [announcements] in announcements.tellPreferences([name]) }
    }

    var enabled: Bool { preferences.isEnabled }
    var showUnhandledOffers: Bool { preferences.showsUnhandled }
    var deviceName: String { preferences.deviceName }
    var port: UInt16 { preferences.port }
    var sharedFolders: [String: String] { preferences.sharedFolders.texts }

    func setEnabled(_ enabled: Bool, _ call: MethodCall) throws { try session.setEnabled(enabled, call) }

    func setShowUnhandledOffers(_ shows: Bool, _ call: MethodCall) throws {
        guard shows != showUnhandledOffers else { return }
        try preferences.setShowsUnhandled(shows)
        tell("ShowUnhandledOffers", after: call)
        offers.setShowsUnhandled(shows, call)
    }

    func setDeviceName(_ name: String, _ call: MethodCall) throws {
        guard name != deviceName else { return }
        try preferences.setDeviceName(name)
        tell("DeviceName", after: call)
    }

    func setPort(_ port: UInt16, _ call: MethodCall) throws {
        guard port != self.port else { return }
        try preferences.setPort(port)
        tell("Port", after: call)
    }

    func setSharedFolders(_ folders: [String: String], _ call: MethodCall) throws {
        guard folders != sharedFolders else { return }
        try preferences.setSharedFolders(ChosenFolders(folders))
        tell("SharedFolders", after: call)
    }

    var sessions: [String: String] { preferences.sessions.texts }

    func setSessions(_ hosts: [String: String], _ call: MethodCall) throws {
        guard hosts != sessions else { return }
        try preferences.setSessions(SessionHosts(hosts))
        tell("Sessions", after: call)
    }

    var applications: [String: String] {
        Dictionary(
            uniqueKeysWithValues: preferences.applications.map {
                ($0.key.description, $0.value.description)
            })
    }

    func setApplications(_ applications: [String: String], _ call: MethodCall) throws {
        var chosen: [ActivityType: ApplicationID] = [:]
        for (type, application) in applications {
            chosen[try ActivityType(type)] = try ApplicationID(application)
        }
        guard chosen != preferences.applications else { return }
        try preferences.setApplications(chosen)
        call.afterReply { [weak session] in session?.applicationsChosen() }
    }
}

// MARK: Notifications, applications, adapters, documents

extension PreferencesObject {
    var notifyOffers: String { preferences.offerNotices.rawValue }

    func setNotifyOffers(_ text: String, _ call: MethodCall) throws {
        let notices = try OfferNotices(text)
        guard notices != preferences.offerNotices else { return }
        try preferences.setOfferNotices(notices)
        tell("NotifyOffers", after: call)
    }

    var notifyContinued: Bool { preferences.notifiesContinued }

    func setNotifyContinued(_ notifies: Bool, _ call: MethodCall) throws {
        guard notifies != notifyContinued else { return }
        try preferences.setNotifiesContinued(notifies)
        tell("NotifyContinued", after: call)
    }

    var park: Bool { preferences.parks }

    func setPark(_ parks: Bool, _ call: MethodCall) throws {
        guard parks != park else { return }
        try preferences.setParks(parks)
        tell("Park", after: call)
    }

    var shareAddresses: Bool { preferences.sharesAddresses }

    func setShareAddresses(_ shares: Bool, _ call: MethodCall) throws {
        guard shares != shareAddresses else { return }
        try preferences.setSharesAddresses(shares)
        tell("ShareAddresses", after: call)
    }

    var introduces: Bool { preferences.introduces }

    func setIntroduces(_ introduces: Bool, _ call: MethodCall) throws {
        guard introduces != self.introduces else { return }
        try preferences.setIntroduces(introduces)
        tell("Introduces", after: call)
    }

    var shareOpenActivities: Bool { preferences.sharesOpenActivities }

    func setShareOpenActivities(_ shares: Bool, _ call: MethodCall) throws {
        guard shares != shareOpenActivities else { return }
        try preferences.setSharesOpenActivities(shares)
        tell("ShareOpenActivities", after: call)
    }

    var clipboard: String { preferences.clipboard.rawValue }

    func setClipboard(_ text: String, _ call: MethodCall) throws {
        let mode = try ClipboardMode(text)
        guard mode != preferences.clipboard else { return }
        try preferences.setClipboard(mode)
        call.afterReply { [clipboards] in clipboards.chosen() }
        tell("Clipboard", after: call)
    }

    var excludedApplications: [String] { preferences.excludedApplications.texts }

    func setExcludedApplications(_ texts: [String], _ call: MethodCall) throws {
        let excluded = try ExcludedApplications(texts)
        guard excluded != preferences.excludedApplications else { return }
        try sessionApplications.setExcluded(excluded)
        call.afterReply { [weak session, offers] in
            session?.exclude()
            offers.updateHandlers()
        }
        tell("ExcludedApplications", after: call)
    }

    var disabledAdapters: [String] { preferences.disabledAdapters.sorted().map(\.description) }

    func setDisabledAdapters(_ texts: [String], _ call: MethodCall) throws {
        let adapters = try AdapterName.set(texts)
        guard adapters != preferences.disabledAdapters else { return }
        try sessionApplications.setDisabledAdapters(adapters)
        call.afterReply { [offers] in offers.updateHandlers() }
        tell("DisabledAdapters", after: call)
    }

    var documentsFolder: String { preferences.documentsFolder?.text ?? "" }

    func setDocumentsFolder(_ text: String, _ call: MethodCall) throws {
        guard text != documentsFolder else { return }
        let folder = text.isEmpty ? nil : try DocumentsFolder(text, home: UserDirectories.home)
        try preferences.setDocumentsFolder(folder)
        documents.place(in: folder)
        documents.removeAbandoned()
        tell("DocumentsFolder", after: call)
    }
}
