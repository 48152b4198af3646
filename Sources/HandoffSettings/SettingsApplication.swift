// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import DBus
import GTKSupport
import HandoffCore
import HandoffInterfaces
import HandoffSettingsModel
import HandoffStatus
import Platform

/// The program with the Handoff window. It has one window, and is on the bus so that it is not there twice.
@MainActor
final class SettingsApplication {
    /// The name of its desktop entry, and its name on the bus.
    static let id = HandoffNames.settings.text
    /// The name of its picture.
    static let icon = Vendor.applicationID

    private lazy var application = Application(
        Self.id, startUp: { [unowned self] in startUp() }, activate: { [unowned self] in activate() })
    private let session = SettingsSession()
    private let applications = InstalledApplications()
    private let adapters = InstalledAdapters()
    private var window: SettingsWindow?
    private var everything: ExportedAction?
    private var hasBegun = false
    /// What the daemons have said last, for a window that is opened later.
    private var latest: StatusReport?
    private var latestAdapters: [Adapter] = []
    private var latestExtension: Bool?

    /// Runs until the window is closed.
    /// - Returns: the exit status.
    func run() -> Int32 { application.run() }

    private func startUp() {
        gtk_window_set_default_icon_name(Self.icon)
        StyleSheet.add(Looks.sheet)
        let keys = [
            ("handoff.continue", ["<Alt>1"]), ("handoff.devices", ["<Alt>2"]),
            ("handoff.activity", ["<Alt>3"]), ("handoff.preferences", ["<Alt>4", "<Control>comma"]),
            ("handoff.pair", ["<Control>n"]), ("handoff.shortcuts", ["<Control>question"]),
            ("handoff.close", ["<Control>w", "<Control>q"]),
        ]
        for (action, keys) in keys { application.setShortcuts(keys, for: action) }
        everything = ExportedAction(
            HandoffNames.everythingAction, of: application.object,
            text: { [unowned self] in show(everythingOf: $0) })
    }

    /// Shows what is open at the device of this id. Whoever asks for it has given that, and need not know any.
    private func show(everythingOf device: String) {
        activate()
        if DeviceID(device) != nil { window?.showEverything(of: device) }
    }

    /// Begins to look at daemons and applications, once there is a window: nothing is to come before that.
    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        applications.begin()
        session.whenTold(toEnd: { [unowned self] in
            if let window {
                window.close()
            } else {
                application.quit()
            }
        })
        session.begin(
            { [unowned self] report in
                latest = report
                window?.take(report)
            },
            { [unowned self] isOn in
                latestExtension = isOn
                window?.take(shellExtension: isOn)
            })
        adapters.begin { [unowned self] adapters in
            latestAdapters = adapters
            window?.take(adapters)
        }
    }

    private func activate() {
        if let window { return window.present() }
        let window = SettingsWindow(application.object, session, applications)
        window.onClose = { [unowned self] in self.window = nil }
        self.window = window
        if let latest { window.take(latest) }
        window.take(latestAdapters)
        window.take(shellExtension: latestExtension)
        window.present()
        begin()
    }
}
