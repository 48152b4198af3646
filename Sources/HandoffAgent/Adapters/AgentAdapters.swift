// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffAdapters
internal import MainLoop

/// What the agent does for adapters: it starts them when their applications appear or have the focus, and tells those that
/// run which of their windows has it.
@MainLoop
final class AgentAdapters {
    /// Whether the session is locked. As long as it is adapters are told nothing new: the user has gone away from what they
    /// were told last, perhaps to continue it elsewhere.
    var isLocked = true {
        didSet { if isLocked != oldValue { focusChanged() } }
    }
    /// Called when other adapters are installed.
    var onInstalled: (@MainLoop () -> Void)? {
        get { starter.onInstalled }
        set { starter.onInstalled = newValue }
    }
    /// The adapters that are installed and needed.
    var installed: [InstalledAdapter] { starter.installed }

    /// An adapter that may run.
    private struct Side {
        let launcher: AdapterLauncher
        let teller: FrontTeller
    }

    private let bus: Bus
    private let focus: any FocusSource
    private let starter: AdapterStarter
    private var sides: [Side] = []
    /// While this runs, nobody has said for long that the focus is not known any more.
    private var grace: LoopSource?
    /// Whether adapters go by what somebody has told of the focus.
    private var isKnown = false

    /// How long it is waited for the session to be locked, or for somebody else who tells the focus, when nobody does any more:
    /// a shell that locks the session leaves before that is known.
    private static let patience = Duration.seconds(1)

    /// For the adapters on `bus`; the user works where `focus` says.
    init(_ bus: Bus, _ focus: any FocusSource) {
        (self.bus, self.focus) = (bus, focus)
        starter = AdapterStarter(on: bus, log: agentLog)
    }

    /// Begins to look which adapters there are.
    func begin() {
        starter.onChange = { [weak self] in self?.launchersChanged() }
        focus.onFocusChange = { [weak self] in self?.focusChanged() }
        starter.begin()
    }

    /// The user has chosen something else: these are the properties of `Preferences`, nil while there is no broker.
    func update(_ preferences: [String: Value]?) { starter.update(preferences) }

    private func launchersChanged() {
        sides = starter.launchers.map { launcher in
            if let known = sides.first(where: { $0.launcher === launcher }) { return known }
            let teller = FrontTeller(bus)
            launcher.onOwnerChange = { [weak self, weak launcher, weak teller] in
                teller?.runs(launcher?.owner)
                self?.focusChanged()
            }
            launcher.onApplicationsKnown = { [weak self] in self?.focusChanged() }
            teller.runs(launcher.owner)
            return Side(launcher: launcher, teller: teller)
        }
        focusChanged()
    }

    private func focusChanged() {
        if isLocked || focus.isTelling { grace = nil }
        if isLocked { return }
        if isKnown, !focus.isTelling {
            if grace == nil { grace = .timer(after: Self.patience) { [weak self] in self?.forgetFocus() } }
            return
        }
        isKnown = focus.isTelling
        tell()
    }

    private func forgetFocus() {
        grace = nil
        isKnown = false
        tell()
    }

    private func tell() {
        for side in sides {
            let window = focus.window.flatMap { side.launcher.owns($0) ? $0 : nil }
            side.launcher.isInFront = window != nil
            side.teller.show(window, isKnown: isKnown)
        }
    }
}
