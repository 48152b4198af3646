// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient

/// What the broker says.
package struct BrokerStatus: Equatable, Sendable {
    /// The version of its interfaces.
    package var version = 0
    /// The user's switch.
    package var isEnabled = true
    /// The activity of this session that is current.
    package var current: LocalActivity?
    /// What its user has left last, while nothing is current.
    package var left: LocalActivity?
    /// The offers of other devices, the latest first.
    package var offers: [RemoteOffer] = []
    /// The offers of other devices that nothing here can continue.
    package var hidden: [HiddenOffer] = []
    /// What other devices have fetched recently, the latest first.
    package var fetches: [RecentFetch] = []
    /// How often each device has fetched something, and what it fetched last.
    package var fetchesByDevice: [DeviceFetches] = []
    /// Which devices have listed what is open here, the latest first.
    package var listings: [DeviceListing] = []
    /// What is continued here by one choice of the user, and what was a moment ago.
    package var continuing: [ContinueAllRun] = []
    /// The applications that are registered.
    package var applications: [RegisteredApplication] = []
    /// What programs were refused last, the latest first.
    package var refusals: [RecentRefusal] = []
    /// What the user has chosen: the properties of `Preferences`, by their names.
    package var preferences: [String: Value] = [:]
    /// By which of the desktop's means the clipboard here is reached; empty if by none.
    package var clipboardDesktop = ""

    /// The telephones that what is current, or was left last, can be sent to.
    package var phones: [KnownPhone] = []

    /// What can be sent to another device.
    package var sendable: LocalActivity? { current ?? left }
    /// Whether the user wants to paste what is in the clipboards of other devices.
    package var isPasting: Bool { isEnabled && ["ask", "follow"].contains(preferences.text("Clipboard")) }

    /// A broker that says nothing.
    package init() {}

    /// What a broker says that shows `objects`, and has these properties as `Manager`, as `Preferences`, as
    /// `Clipboard`, and as `Phones`.
    package init(
        objects: ManagedObjects, manager: [String: Value], preferences: [String: Value] = [:],
        clipboard: [String: Value] = [:], phones: [String: Value] = [:]
    ) {
        self.phones = KnownPhone.all(in: phones["Phones"])
        clipboardDesktop = clipboard.text("Desktop")
        version = manager.number("Version")
        isEnabled = manager.flag("Enabled")
        let excluded = preferences.texts("ExcludedApplications")
        current = .current(in: objects, excluded: excluded)
        if case .objectPath(let path)? = manager["LeftActivity"] {
            left = LocalActivity(at: path, in: objects, excluded: excluded)
        }
        offers = RemoteOffer.all(in: objects)
        hidden = HiddenOffer.all(in: manager["HiddenOffers"])
        fetches = RecentFetch.all(in: manager["RecentFetches"])
        fetchesByDevice = DeviceFetches.all(in: manager["FetchesByDevice"])
        listings = DeviceListing.all(in: manager["ListingsByDevice"])
        continuing = ContinueAllRun.all(in: objects)
        applications = RegisteredApplication.all(in: manager["RegisteredApplications"])
        refusals = RecentRefusal.all(in: manager["RecentRefusals"])
        self.preferences = preferences
    }
}
