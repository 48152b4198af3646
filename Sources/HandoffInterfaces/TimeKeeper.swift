// SPDX-License-Identifier: LGPL-2.1-or-later
public import HandoffCore
public import MainLoop

/// Keeps others to their ``TimeBudgets``: runs what they ask for at their expense, and has it wait while they have
/// taken what they may. While nobody waits there is no timer.
@MainLoop
public final class TimeKeeper {
    /// A device, or nil for all those together that nobody knows.
    public typealias Key = DeviceID?

    private var budgets = TimeBudgets()
    private var accounts: [Key: TimeAccount] = [:]
    private var waiting: [Key: [@MainLoop (Bool) -> Void]] = [:]
    /// Whoever waits, in the order in which they have their turns.
    private var queue: [Key] = []
    private let barred: @MainLoop (Key) -> Void
    private lazy var timer = DeadlineTimer { [weak self] in self?.release() }
    private var soon: LoopSource?

    /// Nobody has taken any time. `barred` is called when somebody has taken so much that nothing is done for it for a
    /// while.
    public init(barred: @escaping @MainLoop (Key) -> Void) { self.barred = barred }

    private static var now: Instant { Instant(microseconds: MainLoop.now) }

    /// Whether nothing is done for `key` now, for so long that waiting is of no use.
    public func isBarred(_ key: Key) -> Bool {
        if case .barred = budgets.standing(of: key, at: Self.now) { true } else { false }
    }

    /// How much waits for `key`.
    public func waitingCount(_ key: Key) -> Int { waiting[key]?.count ?? 0 }

    /// Runs `body` at the expense of `key`: at once, or when it may go on, behind all that waits for it already; with
    /// false if it is barred.
    /// - Returns: whether it was at once.
    @discardableResult
    public func admit(_ key: Key, _ body: @escaping @MainLoop (_ isLetIn: Bool) -> Void) -> Bool {
        let standing = budgets.standing(of: key, at: Self.now)
        switch standing {
        case .free where waiting[key] == nil:
            run(key, body, true)
            return true
        case .barred:
            run(key, body, false)
            return true
        case .free, .held:
            if waiting[key] == nil { queue.append(key) }
            waiting[key, default: []].append(body)
            wait()
            return false
        }
    }

    private func run(_ key: Key, _ body: @MainLoop (Bool) -> Void, _ isLetIn: Bool) {
        MainLoop.charge(account(of: key)) { body(isLetIn) }
    }

    private func account(of key: Key) -> TimeAccount {
        if let account = accounts[key] { return account }
        // Those that have taken nothing for long are forgotten in both places.
        if accounts.count > 2 * budgets.count + 64 { accounts = [:] }
        let account = TimeAccount { [weak self] time in self?.spend(time, key) }
        accounts[key] = account
        return account
    }

    /// `key` has taken so much processor time, which the loop does not see or has measured, in nanoseconds.
    public func spend(_ nanoseconds: Int64, _ key: Key) {
        guard budgets.took(nanoseconds, key, at: Self.now) else { return }
        MainLoop.start { [weak self] in
            guard let self else { return }
            barred(key)
            release()
        }
    }

    // MARK: Waiting

    /// One of each key: what it costs is known before the next.
    private func release() {
        soon = nil
        for key in queue {
            let isLetIn: Bool
            switch budgets.standing(of: key, at: Self.now) {
            case .held: continue
            case .barred: isLetIn = false
            case .free: isLetIn = true
            }
            guard var bodies = waiting[key] else { continue }
            queue.removeAll { $0 == key }
            let body = bodies.removeFirst()
            waiting[key] = bodies.isEmpty ? nil : bodies
            if !bodies.isEmpty { queue.append(key) }
            run(key, body, isLetIn)
        }
        wait()
    }

    private func wait() {
        var deadline: Instant?
        for key in queue {
            guard case .held(let until) = budgets.standing(of: key, at: Self.now) else {
                if soon == nil { soon = .soon { [weak self] in self?.release() } }
                continue
            }
            deadline = min(deadline ?? until, until)
        }
        timer.set(deadline?.microseconds)
    }
}
