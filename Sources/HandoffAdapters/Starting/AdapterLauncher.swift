// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
internal import HandoffCore
internal import HandoffSession
package import MainLoop
internal import Platform

/// One adapter that may run: it is started when one of its applications appears, by the bus, for as long as this is there.
@MainLoop
package final class AdapterLauncher {
    /// Which it is.
    package let adapter: InstalledAdapter
    /// Its unique name while it runs, in no sandbox.
    package var owner: BusName? { watch?.name }
    /// Called when ``owner`` may be another.
    package var onOwnerChange: (@MainLoop () -> Void)?
    /// Called when more is known of who its applications are.
    package var onApplicationsKnown: (@MainLoop () -> Void)? {
        get { applications.onKnown }
        set { applications.onKnown = newValue }
    }
    /// Whether the user works in a window of one of its applications, as far as that is known.
    package var isInFront = false {
        didSet { if isInFront, !oldValue { appeared() } }
    }

    private let bus: Bus
    private let log: Log
    private let busName: BusName
    private let applications: RunningApplications
    private let rules: Set<MatchRule>
    private var watch: OwnerWatch?
    private var start = AdapterStart() {
        didSet { timer.set(start.nextTime?.microseconds) }
    }
    private lazy var timer = DeadlineTimer { [weak self] in self?.startIfDue() }
    /// Whether the bus has said that it runs, before it is known who that is.
    private var isAnswered = false
    private var hasComplained = false

    /// How long a program may take to start, like the bus.
    private static let patience = Duration.seconds(25)

    /// Starts `adapter`, which takes the name `busName`, and says in `log` why that fails.
    init(_ adapter: InstalledAdapter, _ busName: BusName, on bus: Bus, log: Log) {
        (self.adapter, self.busName, self.bus, self.log) = (adapter, busName, bus, log)
        applications = RunningApplications(on: bus)
        rules = Set(adapter.description.names.map(\.rule))
        for rule in rules { bus.addMatch(rule) }
        watch = OwnerWatch(bus, busName, log: log) { [weak self] in self?.ownerChanged($0) }
    }

    isolated deinit { for rule in rules { bus.removeMatch(rule) } }

    /// Whether `window` is one of its applications'. If the shell does not say which application that is, it goes by the
    /// connection or the process; ``onApplicationsKnown`` is called if that has to be found out first.
    package func owns(_ window: FocusedWindow) -> Bool {
        if let application = window.application {
            return adapter.applications.contains { $0.id == application }
        }
        return applications.own(window)
    }

    /// The bus says that `name` has an owner, or none any more.
    func nameChanged(_ name: String, hasOwner: Bool) {
        guard adapter.description.counts(name) else { return }
        applications.changed(name, isThere: hasOwner)
        if hasOwner { appeared() }
    }

    private func appeared() { if start.appeared(at: .now) { launch() } }

    private func startIfDue() {
        guard isInFront || !applications.isEmpty else { return start.forgetAppearance() }
        if start.isDue(at: .now) { launch() }
    }

    private func launch() {
        log.debug(
            "An application of the adapter \(adapter.description.name) has appeared, and it is started.")
        let (bus, busName) = (bus, busName)
        MainLoop.start { [weak self] in
            do {
                // It is there when this returns, and may be gone when the next does.
                try await bus.startService(busName, timeout: Self.patience)
                guard let owner = try? await bus.identifiedOwner(of: busName) else {
                    self?.hasEndedAtOnce()
                    return
                }
                guard owner.sandbox == nil else {
                    throw DBusError(
                        .accessDenied, "A program in a sandbox has taken its name, and is not believed.")
                }
                self?.launched()
            } catch {
                self?.failed(DBusError.converting(error).message)
            }
        }
    }

    private func launched() {
        guard let watch, watch.name == nil else { return }
        // It may be gone again already.
        if watch.hasOwner { isAnswered = true } else { hasEndedAtOnce() }
    }

    private func failed(_ reason: String) {
        log(
            hasComplained ? .debug : .warning,
            "The adapter \(adapter.description.name) (\(busName)) cannot be started: \(PeerText.message(reason))"
                + " It is tried again when one of its applications appears.")
        hasComplained = true
        waitForNext()
    }

    /// It has had its name, so it could be started, and there was nothing for it to do.
    private func hasEndedAtOnce() {
        log.debug("The adapter \(adapter.description.name) (\(busName)) has ended at once.")
        waitForNext()
    }

    private func waitForNext() {
        isAnswered = false
        var generator = UnpredictableNumbers()
        start.failed(at: .now, using: &generator)
    }

    private func ownerChanged(_ owner: BusName?) {
        var generator = UnpredictableNumbers()
        if owner != nil {
            (isAnswered, hasComplained) = (false, false)
            start.runs(at: .now)
        } else if isAnswered {
            hasEndedAtOnce()
        } else {
            start.ended(at: .now, using: &generator)
        }
        onOwnerChange?()
    }
}
