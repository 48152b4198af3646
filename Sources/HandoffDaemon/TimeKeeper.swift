// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore
internal import HandoffSession
package import MainLoop

/// Holds others to their ``TimeBudgets``: it runs what they ask for at their expense, and makes it wait while
/// they have used up their budget. While nobody waits, there is no timer.
@MainLoop
package final class TimeKeeper {
    /// A device, or nil for all unknown ones together.
    package typealias Key = DeviceID?

    private var budgets = TimeBudgets()
    private var accounts: [Key: TimeAccount] = [:]
    private var waiting: [Key: [Waiting]] = [:]
    /// Those who wait, in the order in which they have their turn if they have used the same amount of time.
    private var queue: [Key] = []
    private let barred: @MainLoop (Key) -> Void
    private lazy var timer = DeadlineTimer { [weak self] in self?.release() }
    private var soon: LoopSource?

    /// Nobody has used any time yet. `barred` is called when somebody has used so much that nothing is done
    /// for it for a while.
    package init(barred: @escaping @MainLoop (Key) -> Void) { self.barred = barred }

    private struct Waiting {
        let evenIfBarred: Bool
        let body: @MainLoop (Bool) -> Void
    }

    /// Whether nothing will be done for `key` for so long that waiting is pointless.
    package func isBarred(_ key: Key) -> Bool {
        if case .barred = budgets.standing(of: key, at: .now) { true } else { false }
    }

    /// How many pieces of work wait for `key`.
    package func waitingCount(_ key: Key) -> Int { waiting[key]?.count ?? 0 }

    /// Runs `body` at the expense of `key`: at once, or when its turn comes, after everything that waits for
    /// it already. `body` is given false if `key` is barred, unless this is to be done `evenIfBarred`.
    /// - Returns: whether it ran at once.
    @discardableResult
    package func admit(
        _ key: Key, evenIfBarred: Bool = false, _ body: @escaping @MainLoop (_ isLetIn: Bool) -> Void
    ) -> Bool {
        switch standing(of: key, evenIfBarred) {
        case .free where waiting[key] == nil:
            run(key, body, true)
            return true
        case .barred:
            run(key, body, false)
            return true
        case .free, .held:
            if waiting[key] == nil { queue.append(key) }
            waiting[key, default: []].append(Waiting(evenIfBarred: evenIfBarred, body: body))
            wait()
            return false
        }
    }

    private func standing(of key: Key, _ evenIfBarred: Bool) -> TimeBudgets.Standing {
        evenIfBarred ? budgets.pace(of: key, at: .now) : budgets.standing(of: key, at: .now)
    }

    private func run(_ key: Key, _ body: @MainLoop (Bool) -> Void, _ isLetIn: Bool) {
        MainLoop.charge(account(of: key)) { body(isLetIn) }
    }

    private func account(of key: Key) -> TimeAccount {
        if let account = accounts[key] { return account }
        // Those that have used nothing for a long time are forgotten in both places.
        if accounts.count > 2 * budgets.count + 64 { accounts = [:] }
        let account = TimeAccount { [weak self] time in self?.spend(time, key) }
        accounts[key] = account
        return account
    }

    /// `key` has used this much processor time, in nanoseconds, as measured by the loop or spent where the
    /// loop does not see it.
    package func spend(_ nanoseconds: Int64, _ key: Key) {
        guard budgets.took(nanoseconds, key, at: .now) else { return }
        MainLoop.start { [weak self] in
            guard let self else { return }
            barred(key)
            release()
        }
    }

    // MARK: Waiting

    /// Releases only one, then lets others on the main loop have their turn, so that the cost of one is known
    /// before the next.
    private func release() {
        soon = nil
        if let (key, isLetIn) = nextInTurn(), var all = waiting[key], let first = all.first {
            queue.removeAll { $0 == key }
            all.removeFirst()
            waiting[key] = all.isEmpty ? nil : all
            if !all.isEmpty { queue.append(key) }
            run(key, first.body, isLetIn)
        }
        wait()
    }

    /// The next in turn: one that is barred, since that is answered at once, or else the one of those not
    /// held back that has used the least.
    private func nextInTurn() -> (key: Key, isLetIn: Bool)? {
        let now = Instant.now
        var least: (key: Key, taken: Int64)?
        for key in queue {
            guard let first = waiting[key]?.first else { continue }
            switch standing(of: key, first.evenIfBarred) {
            case .held: continue
            case .barred: return (key, false)
            case .free:
                let taken = budgets.taken(by: key, at: now)
                if taken < least?.taken ?? .max { least = (key, taken) }
            }
        }
        return least.map { ($0.key, true) }
    }

    private func wait() {
        var deadline: Instant?
        for key in queue {
            guard let first = waiting[key]?.first,
                case .held(let until) = standing(of: key, first.evenIfBarred)
            else {
                if soon == nil { soon = .soon { [weak self] in self?.release() } }
                continue
            }
            deadline = min(deadline ?? until, until)
        }
        timer.set(deadline?.microseconds)
    }
}
