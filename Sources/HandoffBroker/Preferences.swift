// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What the user has chosen: the keys of `handoff.conf`, which the broker alone writes.
///
/// The file is read anew before each change, and everything else in it stays as it is, so that changes which
/// the user has made by hand are not undone.
@MainLoop
final class Preferences {
    /// The user's switch.
    private(set) var isEnabled = true
    /// Whether offers are shown that nothing here can continue.
    private(set) var showsUnhandled = false
    /// The name under which peers show this device; empty for that of the machine.
    private(set) var deviceName = ""
    /// The port on which peers reach this device; 0 for any.
    private(set) var port: UInt16 = 0
    /// The shared folders that the user has named.
    private(set) var sharedFolders = ChosenFolders()
    /// Where the user reaches other devices by ssh.
    private(set) var sessions = SessionHosts()
    /// Which application is to continue activities of a type, as the user has chosen once and for all.
    private(set) var applications: [ActivityType: ApplicationID] = [:]
    /// When the user wants a notification for offers.
    private(set) var offerNotices = OfferNotices.arrival
    /// Whether the user wants to be told that something was continued elsewhere.
    private(set) var notifiesContinued = true
    /// The applications that the user keeps out.
    private(set) var excludedApplications = ExcludedApplications()
    /// The adapters that the user has switched off.
    private(set) var disabledAdapters: Set<AdapterName> = []
    /// Where the user wants documents that come over; nil for `Handoff` in the folder for downloads.
    private(set) var documentsFolder: DocumentsFolder?
    /// Whether what is offered is left with peers when this machine sleeps.
    private(set) var parks = true
    /// Whether peers are told where this device can be reached from other networks.
    private(set) var sharesAddresses = true
    /// Whether peers are told of each other, and what they tell of theirs is shown.
    private(set) var introduces = true
    /// Whether all that is open is listed for peers whose users ask for it.
    private(set) var sharesOpenActivities = true
    /// What becomes of the clipboard.
    private(set) var clipboard = ClipboardMode.ask
    private let path: String

    /// What the file at `path` says; what it does not say has its default.
    /// - Throws: if the file, or a key that only the broker goes by, cannot be understood.
    init(_ path: String) throws {
        self.path = path
        let file = try KeyFile.settings(path)
        isEnabled = try file.boolean(.enabled) ?? true
        showsUnhandled = try file.boolean(.showsUnhandled) ?? false
        deviceName = PeerText.name((try? file.string(.deviceName)) ?? "")
        port = readPort(file)
        sharedFolders = ChosenFolders(file)
        sessions = SessionHosts(file)
        applications = readApplications(file)
        let choices = FileChoices(file, path)
        excludedApplications = try choices.excludedApplications()
        offerNotices = choices.offerNotices
        notifiesContinued = choices.notifiesContinued
        disabledAdapters = choices.disabledAdapters
        documentsFolder = choices.documentsFolder
        parks = choices.parks
        sharesAddresses = choices.sharesAddresses
        introduces = choices.introduces
        sharesOpenActivities = choices.sharesOpenActivities
        clipboard = choices.clipboard
    }

    /// A choice that cannot be understood is none, and stays in the file.
    private func readApplications(_ file: KeyFile) -> [ActivityType: ApplicationID] {
        var applications: [ActivityType: ApplicationID] = [:]
        for key in file.keys(in: ConfigurationKey.applications) {
            guard let type = ActivityType(key: key),
                let text = try? file.string(.application(for: type)),
                let application = try? ApplicationID(text), applications.count < Quota.choices
            else {
                brokerLog.warning(
                    "\(PeerText.message(path)), [\(ConfigurationKey.applications)], \(PeerText.message(key)) is ignored:"
                        + " it is not a type with an application id, or there are more than \(Quota.choices)."
                )
                continue
            }
            applications[type] = application
        }
        return applications
    }

    /// An invalid port counts as 0: the bridge, which uses the port, reports it.
    private func readPort(_ file: KeyFile) -> UInt16 {
        (try? file.integer(.port)).flatMap { $0 }.flatMap { UInt16(exactly: $0) } ?? 0
    }

    // MARK: Changing

    // Each throws if the value is not legal or the file cannot be read or written; then nothing has changed.

    /// Stores the switch.
    func setEnabled(_ isEnabled: Bool) throws {
        try change { $0.set(.enabled, to: isEnabled) }
        self.isEnabled = isEnabled
    }

    /// Stores whether offers are shown that nothing here can continue.
    func setShowsUnhandled(_ showsUnhandled: Bool) throws {
        try change { $0.set(.showsUnhandled, to: showsUnhandled) }
        self.showsUnhandled = showsUnhandled
    }

    /// Stores the name; an empty one removes it from the file.
    func setDeviceName(_ name: String) throws {
        guard name == PeerText.name(name) else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.name(name))” cannot be the name of this device: it must have at most"
                    + " \(PeerText.maximumName) characters, no control characters, and no space at its ends. Give"
                    + " another one, or an empty one for the name of the machine.")
        }
        try change {
            if name.isEmpty {
                $0.remove(.deviceName)
            } else {
                $0.set(.deviceName, to: name)
            }
        }
        deviceName = name
    }

    /// Stores the port; 0 removes it from the file.
    func setPort(_ port: UInt16) throws {
        try change {
            if port == 0 {
                $0.remove(.port)
            } else {
                $0.set(.port, to: Int64(port))
            }
        }
        self.port = port
    }

    /// Stores which folders are shared.
    func setSharedFolders(_ folders: ChosenFolders) throws {
        try change { folders.replace(sharedFolders, in: $0) }
        sharedFolders = folders
    }

    /// Stores where the user reaches other devices by ssh.
    func setSessions(_ sessions: SessionHosts) throws {
        try change { $0.replace(self.sessions.texts, by: sessions.texts, in: SessionHosts.group) }
        self.sessions = sessions
    }

    /// Stores which application is to continue activities of each of these types, and of no others.
    func setApplications(_ applications: [ActivityType: ApplicationID]) throws {
        guard applications.count <= Quota.choices else {
            throw HandoffFailure.tooMany(
                "types with a chosen application (\(applications.count))", limit: Quota.choices,
                advice:
                    "Take out what is not needed any more (Applications of org.example.Handoff.Preferences).")
        }
        try change { file in
            for type in self.applications.keys where applications[type] == nil {
                file.remove(.application(for: type))
            }
            for (type, application) in applications.sorted(by: { $0.key.description < $1.key.description }) {
                file.set(.application(for: type), to: application.description)
            }
        }
        self.applications = applications
    }

    /// Stores when there is a notification for offers.
    func setOfferNotices(_ notices: OfferNotices) throws {
        try change { $0.set(.notifiesOffers, to: notices.rawValue) }
        offerNotices = notices
    }

    /// Stores whether there is a notification when something was continued elsewhere.
    func setNotifiesContinued(_ notifies: Bool) throws {
        try change { $0.set(.notifiesContinued, to: notifies) }
        notifiesContinued = notifies
    }

    /// Stores whether what is offered is left with peers when this machine sleeps.
    func setParks(_ parks: Bool) throws {
        try change { $0.set(.parks, to: parks) }
        self.parks = parks
    }

    /// Stores whether peers are told where this device can be reached from other networks.
    func setSharesAddresses(_ shares: Bool) throws {
        try change { $0.set(.sharesAddresses, to: shares) }
        sharesAddresses = shares
    }

    /// Stores whether peers are told of each other, and what they tell of theirs is shown.
    func setIntroduces(_ introduces: Bool) throws {
        try change { $0.set(.introduces, to: introduces) }
        self.introduces = introduces
    }

    /// Stores whether all that is open is listed for peers whose users ask for it.
    func setSharesOpenActivities(_ shares: Bool) throws {
        try change { $0.set(.sharesOpenActivities, to: shares) }
        sharesOpenActivities = shares
    }

    /// Stores what becomes of the clipboard.
    func setClipboard(_ mode: ClipboardMode) throws {
        try change { $0.set(.clipboard, to: mode.rawValue) }
        clipboard = mode
    }

    /// Stores which applications are kept out; none removes the key from the file.
    func setExcludedApplications(_ applications: ExcludedApplications) throws {
        try change { Self.set(.excludedApplications, to: applications.texts, in: $0) }
        excludedApplications = applications
    }

    /// Stores which adapters are switched off; none removes the key from the file.
    func setDisabledAdapters(_ adapters: Set<AdapterName>) throws {
        try change { Self.set(.disabledAdapters, to: adapters.sorted().map(\.description), in: $0) }
        disabledAdapters = adapters
    }

    /// Stores where documents that come over are put; nil removes the key from the file.
    func setDocumentsFolder(_ folder: DocumentsFolder?) throws {
        try change {
            if let folder {
                $0.set(.documentsFolder, to: folder.text)
            } else {
                $0.remove(.documentsFolder)
            }
        }
        documentsFolder = folder
    }

    private static func set(_ key: ConfigurationKey, to texts: [String], in file: KeyFile) {
        if texts.isEmpty { file.remove(key) } else { file.set(key, to: texts) }
    }

    private func change(_ change: (KeyFile) -> Void) throws {
        // What was read is what is replaced, wherever a link leads by then.
        let target = SmallFile.target(of: path)
        let file = try KeyFile.settings(target)
        change(file)
        try file.save(to: target)
    }
}
