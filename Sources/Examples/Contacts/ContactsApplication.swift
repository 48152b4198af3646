// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import CGTK
import ContactsModel
import GTKObjects
import GTKSupport
import HandoffKit
import Platform

/// The address book: its windows, its shortcuts, and what it is for Handoff.
@MainActor
final class ContactsApplication {
    /// The name of its desktop entry.
    static let id = Vendor.id("Contacts")
    /// More windows than this are not opened by asking for new ones.
    private static let mostWindows = 16

    private lazy var application = Application(
        Self.id, startUp: { [unowned self] in startUp() }, activate: { [unowned self] in activate() })
    // On another device it may have another id.
    private let handoff = HandoffApplication(
        id: ContactsApplication.id, activityTypes: ContactActivity.Kind.allCases.map(\.rawValue),
        team: "org.example.Handoff.Contacts")
    private let store: ContactStore
    private var windows: [ContactsWindow] = []
    private var newWindow: ExportedAction?
    /// What is on its way, in the order in which it was announced.
    private var coming: [(type: String, device: String, window: ContactsWindow)] = []

    /// An address book whose contacts are in `file`.
    init(_ file: ContactFile) { store = ContactStore(file) }

    /// Runs until the last window is closed.
    /// - Returns: the exit status.
    func run() -> Int32 { application.run() }

    private func startUp() {
        gtk_window_set_default_icon_name(Self.id)
        newWindow = ExportedAction("new-window", of: application.object) { [unowned self] in openWindow() }
        setShortcuts()
        // Where it is dark, a field for text would be darker than the other fields of a form.
        StyleSheet.add(
            "textview.card { background-color: @card_bg_color; } textview.card text { background: none; }")
        store.read()
        handoff.onWillContinue { [unowned self] type, device in willContinue(type, device) }
        handoff.onContinue { [unowned self] in try await resume($0, $1) }
        handoff.onFailure { [unowned self] type, error in failed(type, error) }
        handoff.start()
    }

    private func setShortcuts() {
        let keys = [
            ("new", "<Control>n"), ("search", "<Control>f"), ("edit", "<Control>e"), ("save", "<Control>s"),
            ("cancel", "Escape"), ("delete", "<Control>d"), ("back", "<Alt>Left"),
            ("shortcuts", "<Control>question"), ("close", "<Control>w"), ("quit", "<Control>q"),
        ].map { ("\(ContactsWindow.prefix).\($0)", $1) }
        for (action, key) in keys + [("app.new-window", "<Control><Shift>n")] {
            application.setShortcuts([key], for: action)
        }
    }

    private func activate() {
        (windows.last ?? makeWindow()).present()
    }

    /// Any program can ask for that, again and again.
    private func openWindow() {
        let isCrowded = windows.count >= Self.mostWindows
        (isCrowded ? windows.last ?? makeWindow() : makeWindow()).present()
    }

    private func makeWindow() -> ContactsWindow {
        let window = ContactsWindow(application.object, store)
        window.onClose = { [unowned self, unowned window] in
            windows.removeAll { $0 === window }
            coming.removeAll { $0.window === window }
        }
        window.onQuit = { [unowned self] in quit() }
        windows.append(window)
        return window
    }

    /// Closes all windows; one with something unsaved in it asks first, and stays until then.
    private func quit() { for window in windows { window.close() } }

    // MARK: Continuing

    /// The window for what comes: the one that the user works with, unless that would push aside what was typed in it.
    private func windowForContinuing() -> ContactsWindow {
        let active = windows.first { gtk_window_is_active($0.window.pointer) != 0 } ?? windows.last
        guard let active, !active.state.hasUnsavedChanges, !coming.contains(where: { $0.window === active })
        else { return makeWindow() }
        return active
    }

    private func willContinue(_ type: String, _ device: ContinuationDevice) -> Bool {
        let window = windowForContinuing()
        coming.append((type, device.name, window))
        window.willContinue(from: device.name)
        return true
    }

    private func resume(_ activity: UserActivity, _ device: ContinuationDevice) async throws -> Bool {
        let announced = coming.firstIndex { $0.type == activity.activityType && $0.device == device.name }
        let window = announced.map { coming.remove(at: $0).window } ?? windowForContinuing()
        if window.hasStopped {
            throw HandoffError(.applicationFailed, tr("This was stopped in Contacts. Continue it again."))
        }
        // The user may have begun something else meanwhile.
        let target = window.state.hasUnsavedChanges ? windowForContinuing() : window
        return try await target.restore(activity, from: device.name)
    }

    private func failed(_ type: String, _ error: HandoffError) {
        guard let announced = coming.firstIndex(where: { $0.type == type }) else { return }
        let (_, device, window) = coming.remove(at: announced)
        window.failContinuing(from: device, error)
    }
}
