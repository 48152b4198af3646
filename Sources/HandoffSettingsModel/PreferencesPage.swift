// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
package import HandoffCore
internal import HandoffStatus
internal import Platform

/// What the page shows on which people choose.
package struct PreferencesPage: Equatable, Sendable {
    /// Whether the broker answers, without which nothing can be chosen.
    package var isAvailable = false
    /// The user's switch.
    package var isEnabled = false
    /// When the user is notified of offers.
    package var notifyOffers = OfferNotices.arrival
    /// Whether the user is notified of what was continued elsewhere.
    package var notifyContinued = true
    /// Whether what is offered is left with other devices when this one sleeps.
    package var parks = true
    /// Whether the user's devices are told where this one can be reached from other networks.
    package var sharesAddresses = true
    /// Whether the user's devices are told of each other.
    package var introduces = true
    /// Whether the user's devices are told what is open here, when their user asks for it.
    package var sharesOpen = true
    /// What becomes of the clipboard.
    package var clipboard = ClipboardMode.ask
    /// Whether the clipboard of the desktop here can be reached.
    package var reachesClipboard = false
    /// The applications that are kept out, by name.
    package var excluded: [ExcludedRow] = []
    /// The shared folders, by name.
    package var folders: [FolderRow] = []
    /// Where documents go; empty for the folder that they go to if nothing else is chosen.
    package var documentsFolder = ""
    /// The adapters that are installed, by name; empty if none is.
    package var adapters: [AdapterRow] = []
    /// Whether GNOME's extension is on; nil if there is none.
    package var shellExtension: Bool?

    /// What `state` has of it.
    init(_ state: WindowState, _ name: ApplicationNames) {
        shellExtension = state.shellExtension
        guard let broker = state.report?.broker.content else { return }
        let chosen = broker.preferences
        isAvailable = true
        isEnabled = broker.isEnabled
        notifyOffers = OfferNotices(rawValue: chosen.text("NotifyOffers")) ?? .arrival
        clipboard = ClipboardMode(rawValue: chosen.text("Clipboard")) ?? .ask
        reachesClipboard = !broker.clipboardDesktop.isEmpty
        if chosen["NotifyContinued"] != nil { notifyContinued = chosen.flag("NotifyContinued") }
        if chosen["Park"] != nil { parks = chosen.flag("Park") }
        if chosen["ShareAddresses"] != nil { sharesAddresses = chosen.flag("ShareAddresses") }
        if chosen["Introduces"] != nil { introduces = chosen.flag("Introduces") }
        if chosen["ShareOpenActivities"] != nil { sharesOpen = chosen.flag("ShareOpenActivities") }
        excluded = chosen.texts("ExcludedApplications").map { ExcludedRow(id: $0, name: name.name(of: $0)) }
            .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        folders = Self.texts(chosen["SharedFolders"]).map { FolderRow(name: $0, path: $1) }
            .sorted { $0.name < $1.name }
        documentsFolder = chosen.text("DocumentsFolder")
        let disabled = Set(chosen.texts("DisabledAdapters"))
        adapters = state.adapters.map {
            AdapterRow(id: $0.id, name: $0.name, isOn: !disabled.contains($0.id))
        }
        .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }

    /// What the choice about the clipboard means, in whole sentences but for the last full stop.
    package var clipboardMeaning: String {
        let meaning =
            switch clipboard {
            case .ask:
                tr(
                    "A device of yours gets what is in the clipboard here when you ask for it there, and is "
                        + "told nothing before. What password managers mark as a secret never leaves this device"
                )
            case .follow:
                tr(
                    "This device and your connected devices that follow too tell each other when text or an "
                        + "image is copied, but never its content. For two minutes it can be pasted on the others."
                        + " What password managers mark as a secret never leaves this device"
                )
            case .off:
                tr("What is copied here stays here, and nothing comes from the clipboards of your devices")
            }
        guard clipboard != .off, !reachesClipboard else { return meaning }
        return meaning + "\n" + tr("The clipboard of this desktop cannot be reached")
    }

    // MARK: Changes

    /// Sets the user's switch.
    package static func setEnabled(_ isOn: Bool) -> Request { .setPreference("Enabled", .boolean(isOn)) }

    /// When the user is notified of offers.
    package static func setNotifyOffers(_ when: OfferNotices) -> Request {
        .setPreference("NotifyOffers", .string(when.rawValue))
    }

    /// Whether the user is notified of what was continued elsewhere.
    package static func setNotifyContinued(_ isOn: Bool) -> Request {
        .setPreference("NotifyContinued", .boolean(isOn))
    }

    /// Whether what is offered is left with other devices when this one sleeps.
    package static func setParks(_ isOn: Bool) -> Request { .setPreference("Park", .boolean(isOn)) }

    /// Whether the user's devices are told where this one can be reached from other networks.
    package static func setSharesAddresses(_ isOn: Bool) -> Request {
        .setPreference("ShareAddresses", .boolean(isOn))
    }

    /// Whether the user's devices are told of each other.
    package static func setIntroduces(_ isOn: Bool) -> Request {
        .setPreference("Introduces", .boolean(isOn))
    }

    /// Whether the user's devices are told what is open here, when their user asks for it.
    package static func setSharesOpen(_ isOn: Bool) -> Request {
        .setPreference("ShareOpenActivities", .boolean(isOn))
    }

    /// What becomes of the clipboard.
    package static func setClipboard(_ mode: ClipboardMode) -> Request {
        .setPreference("Clipboard", .string(mode.rawValue))
    }

    /// Where documents go; empty for the folder that they go to if nothing else is chosen.
    package static func setDocumentsFolder(_ path: String) -> Request {
        .setPreference("DocumentsFolder", .string(path))
    }

    /// Keeps the application `id` out, or no longer.
    package static func excluding(_ id: String, _ isExcluded: Bool) -> Request {
        .changeList(ListChange("ExcludedApplications", id, isIn: isExcluded))
    }

    /// Shares the folder at `path` under `name`, or that name no longer if it is nil.
    package static func sharing(_ name: String, _ path: String?) -> Request {
        .changeFolders(FolderChange(name, path))
    }

    /// Switches the adapter `id` on or off.
    package static func switching(_ id: String, _ isOn: Bool) -> Request {
        .changeList(ListChange("DisabledAdapters", id, isIn: !isOn))
    }

    private static func texts(_ value: Value?) -> [(String, String)] {
        guard case .dictionary(let dictionary)? = value else { return [] }
        return dictionary.entries.compactMap { entry in
            guard let name = entry.key.string, let path = entry.value.string else { return nil }
            return (name, path)
        }
    }
}

/// A program that stands for applications which do not know Handoff.
package struct Adapter: Equatable, Sendable {
    /// What `DisabledAdapters` calls it.
    package let id: String
    /// What to call it.
    package let name: String
    /// Those of its applications that are installed, by the names of their desktop entries.
    package let applications: [String]

    /// An adapter.
    package init(id: String, name: String, applications: [String]) {
        (self.id, self.name, self.applications) = (id, name, applications)
    }
}

/// An application that is kept out.
package struct ExcludedRow: Equatable, Sendable, Identifiable {
    package let id: String
    package let name: String
}

/// A folder that other devices have too.
package struct FolderRow: Equatable, Sendable, Identifiable {
    package let name: String
    package let path: String
    package var id: String { name }
}

/// An adapter that is installed.
package struct AdapterRow: Equatable, Sendable, Identifiable {
    package let id: String
    package let name: String
    package let isOn: Bool
}
