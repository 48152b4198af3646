// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
package import HandoffStatus

/// What the Handoff window knows. Everything but what it has begun itself is what the daemons say.
package struct WindowState: Equatable, Sendable {
    /// What the daemons say; nil until that is known.
    package private(set) var report: StatusReport?
    /// What this window continues.
    package private(set) var attempts = Attempts()
    /// What this window sends.
    package private(set) var sends = Sends()
    /// The adapters of which an application is installed.
    package private(set) var adapters: [Adapter] = []
    /// Whether GNOME's extension is on; nil if there is none.
    package var shellExtension: Bool?

    /// Nothing is known yet.
    package init() {}

    /// Other adapters are installed.
    package mutating func take(_ adapters: [Adapter]) { self.adapters = adapters }

    /// The daemons say something else.
    package mutating func take(_ report: StatusReport) {
        self.report = report
        attempts.keep(only: offers)
        if report.bridge.content != nil { sends.keep(only: report.peers) }
    }

    /// The user wants to continue the offer at `path` in `application`, or the best one; after a failure in the same as before.
    /// - Returns: what has to be asked for; nil for nothing, because it is under way.
    package mutating func continueOffer(
        at path: ObjectPath, in application: String?, token: String
    ) -> Request? {
        let application = application ?? attempts.application(of: path)
        let title = offers.first { $0.path == path }?.label.shown ?? ""
        guard attempts.begin(path, title, in: application) else { return nil }
        return .continueOffer(path, application: application, token: token)
    }

    /// What was begun with ``continueOffer(at:in:token:)`` is over.
    /// - Returns: what the user has to be told, because there is no place for it any more; nil for nothing.
    package mutating func finish(_ path: ObjectPath, _ outcome: Outcome) -> String? {
        attempts.finish(path, outcome, offers: offers)
    }

    /// The user sends what is current here to the device of this id, or to the telephone that it stands for.
    /// - Returns: what has to be asked for.
    package mutating func send(to device: String) -> Request {
        let phone = KnownPhone.meant(by: device, among: report?.broker.content?.phones ?? [])
        sends.begin(device, phone)
        return phone.map { .sendToPhone($0) } ?? .send(device)
    }

    /// What was begun with ``send(to:)`` is over.
    package mutating func finishSending(to device: String, _ outcome: Outcome) {
        sends.finish(device, outcome)
    }

    /// The user has read why the device has not got what was sent.
    package mutating func forgetSending(to device: String) { sends.forget(device) }

    private var offers: [RemoteOffer] { report?.broker.content?.offers ?? [] }
}

/// What is visible in the Handoff window.
package struct WindowContent: Equatable, Sendable {
    /// What is wrong, the most basic first.
    package let bars: [ProblemBar]
    package let continuing: ContinuePage
    package let devices: DevicesPage
    package let activity: ActivityPage
    package let preferences: PreferencesPage

    /// What is visible of `state` at the time `now`, in microseconds since the Unix epoch.
    package init(_ state: WindowState, at now: Int64, _ name: ApplicationNames) {
        bars = state.report.map { ProblemBar.all($0) } ?? []
        continuing = ContinuePage(
            state.report, state.attempts, state.sends, state.adapters, at: now, name)
        devices = DevicesPage(state.report, at: now)
        activity = ActivityPage(state.report, at: now, name)
        preferences = PreferencesPage(state, name)
    }
}
