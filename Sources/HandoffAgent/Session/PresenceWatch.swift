// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffDaemon
internal import MainLoop
internal import Platform

/// Whether the user is at this machine, from whoever in the session says so: logind, the monitor of a GNOME session, and
/// where there is no logind the screen saver.
@MainLoop
final class PresenceWatch {
    /// Called with what has come about.
    var onEvent: (@MainLoop (Presence.Event) -> Void)?

    private let session: Bus
    private var presence = Presence()
    private lazy var system = SystemBus(log: agentLog) { [weak self] in self?.systemBusChanged($0) }
    private var login: LoginSession?
    private var monitor: IdleMonitor?
    private var savers: ScreenSavers?
    /// Whether logind has ever told of this session.
    private var isKnownToLogin = false
    private lazy var timer = DeadlineTimer { [weak self] in self?.timePassed() }

    /// Of the session that `session` is the bus of.
    init(_ session: Bus) { self.session = session }

    /// Whether others could see what is shown.
    var isLocked: Bool { presence.isLocked }

    /// Begins to follow them.
    func begin() {
        monitor = IdleMonitor(session) { [weak self] isIdle in
            let now = Self.now
            self?.idleChanged(.monitor, isIdle ? now.advanced(by: .zero - Presence.longIdle) : nil)
        }
        system.connect()
    }

    /// Now, on a clock that goes on while the machine sleeps.
    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    // MARK: Sources

    private func systemBusChanged(_ bus: Bus?) {
        guard let bus else {
            login = nil
            return useScreenSavers()
        }
        login = LoginSession(bus) { [weak self] in self?.loginSays($0) }
    }

    private func loginSays(_ fact: LoginSession.Fact) {
        switch fact {
        case .found:
            isKnownToLogin = true
            savers = nil
        case .missing: useScreenSavers()
        case .isLocked(let isLocked): tell(presence.lockIs(isLocked, at: Self.now))
        case .lockAsked: tell(presence.lockAsked(at: Self.now))
        case .unlockAsked: tell(presence.unlockAsked(at: Self.now))
        case .isIdle(let isIdle): idleChanged(.session, isIdle ? Self.now : nil)
        case .sleeps: idleChanged(.sleep, Self.now)
        case .awake: idleChanged(.sleep, nil)
        }
    }

    private func useScreenSavers() {
        guard savers == nil else { return }
        savers = ScreenSavers(session) { [weak self] isActive in
            guard let self else { return }
            // That there is no screen saver does not unlock what logind has locked before it was gone.
            guard isActive || !isKnownToLogin || savers?.areThere == true else { return }
            tell(presence.lockIs(isActive, at: Self.now))
        }
    }

    // MARK: Events

    /// Nobody has done anything since `time`; nil if somebody does now.
    private func idleChanged(_ source: Presence.Source, _ time: Instant?) {
        if let time {
            presence.idle(source, since: time)
        } else {
            tell(presence.active(source, at: Self.now))
        }
    }

    private func timePassed() { tell(presence.advance(to: Self.now)) }

    private func tell(_ events: [Presence.Event]) {
        // A deadline says how much time is left on its own clock.
        timer.set(
            presence.nextTime.map {
                MainLoop.now + max(0, $0.microseconds - Self.now.microseconds)
            })
        for event in events {
            agentLog.debug("\(event)")
            onEvent?(event)
        }
    }
}
