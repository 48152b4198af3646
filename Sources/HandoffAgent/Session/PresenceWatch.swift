// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Whether the user is at this machine, from whoever in the session says so: logind, the screen savers, and the monitor of
/// a GNOME session.
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
        savers = ScreenSavers(session) { [weak self] in self?.screenSaverSays($0, $1) }
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
            // One that does not answer may do so yet.
            if !system.isMaking { tell(presence.isGone(.session, at: Self.now)) }
            return
        }
        login = LoginSession(bus) { [weak self] in self?.loginSays($0) }
    }

    private func loginSays(_ fact: LoginSession.Fact) {
        switch fact {
        case .missing: tell(presence.isGone(.session, at: Self.now))
        case .isLocked(let isLocked): tell(presence.lockIs(isLocked, .session, at: Self.now))
        case .lockAsked: tell(presence.lockAsked(at: Self.now))
        case .unlockAsked: tell(presence.unlockAsked(at: Self.now))
        case .isIdle(let isIdle): idleChanged(.session, isIdle ? Self.now : nil)
        case .sleeps: idleChanged(.sleep, Self.now)
        case .awake: idleChanged(.sleep, nil)
        }
    }

    private func screenSaverSays(_ locker: Presence.Locker, _ fact: ScreenSavers.Fact) {
        switch fact {
        case .isActive(let isActive): tell(presence.lockIs(isActive, locker, at: Self.now))
        case .missing: tell(presence.isGone(locker, at: Self.now))
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

    private func tell(_ events: [Presence.Event]) {
        for event in events {
            agentLog.debug("\(event)")
            onEvent?(event)
        }
    }
}
