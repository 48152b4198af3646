// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffStatus
package import MainLoop
internal import Platform

/// What stands between the daemons and every surface: as long as the session is locked, or it is not known whether it is, there
/// is nothing to be seen, and nothing that is chosen is done. Whoever is at a locked machine may be somebody else.
@MainLoop
package final class LockGate: AgentActions {
    /// Whether the session is locked; nil until that is known.
    private var isLocked: Bool?
    private let actions: any AgentActions
    private var surfaces: [any Surface] = []
    /// What the daemons said last; nil until they have said anything.
    private var latest: StatusReport?

    /// A gate before `actions`, which is closed.
    package init(_ actions: any AgentActions) { self.actions = actions }

    /// Whether what the daemons say may be shown, and what is chosen done.
    package var isOpen: Bool { isLocked == false }

    /// `surface` is told from now on what may be shown: once it is known what there is, and that it may be shown or not.
    package func lead(to surface: any Surface) { surfaces.append(surface) }

    /// The daemons say this.
    package func update(_ report: StatusReport) {
        latest = report
        show()
    }

    /// The session is locked, or is not.
    package func set(isLocked: Bool) {
        guard isLocked != self.isLocked else { return }
        self.isLocked = isLocked
        show()
    }

    private func show() {
        guard let latest, isLocked != nil else { return }
        for surface in surfaces { surface.update(isOpen ? latest : StatusReport()) }
    }

    // MARK: AgentActions

    package func continueOffer(at path: ObjectPath, in applicationID: String?, token: String) {
        pass("continued") { $0.continueOffer(at: path, in: applicationID, token: token) }
    }

    package func dismissOffer(at path: ObjectPath) { pass("dismissed") { $0.dismissOffer(at: path) } }

    package func send(to deviceID: String) { pass("sent") { $0.send(to: deviceID) } }

    package func paste(from deviceID: String) { pass("pasted") { $0.paste(from: deviceID) } }

    package func confirmPairing(with deviceID: String, matches: Bool) {
        pass("confirmed") { $0.confirmPairing(with: deviceID, matches: matches) }
    }

    package func setEnabled(_ isEnabled: Bool) { pass("switched") { $0.setEnabled(isEnabled) } }

    package func openWindow(token: String) { pass("opened") { $0.openWindow(token: token) } }

    package func openEverything(at deviceID: String, token: String) {
        pass("opened") { $0.openEverything(at: deviceID, token: token) }
    }

    /// Does it unless the session is locked.
    func pass(_ what: String, _ body: (any AgentActions) -> Void) {
        if isOpen { return body(actions) }
        agentLog.info("Nothing is \(what) while the session is locked.")
    }
}
