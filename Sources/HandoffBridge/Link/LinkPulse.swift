// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

/// Finds out that nobody is at the other end of a link any more, where no kernel does: asks when nothing was received for long.
@MainLoop
final class LinkPulse {
    /// After how long without having received anything the other side is asked. Routers forget a connection that is idle for five
    /// minutes.
    nonisolated static let idleTime = Duration.seconds(240)
    /// How long it has to answer.
    private static let patience = Duration.seconds(20)

    private let idleTime: Duration
    private let heardAt: @MainLoop () -> Int64
    private let ask: @MainLoop @Sendable (Duration) async throws -> Void
    private let dead: @MainLoop (Duration) -> Void
    private var timer: LoopSource?

    /// - Parameters:
    ///   - idleTime: after how long the other side is asked.
    ///   - heardAt: when something was received last, in microseconds of ``MainLoop/now``.
    ///   - ask: asks the other side, which has this long to answer.
    ///   - dead: called once it has not answered in that time.
    init(
        after idleTime: Duration = LinkPulse.idleTime,
        heardAt: @escaping @MainLoop () -> Int64,
        ask: @escaping @MainLoop @Sendable (Duration) async throws -> Void,
        dead: @escaping @MainLoop (Duration) -> Void
    ) {
        (self.idleTime, self.heardAt, self.ask, self.dead) = (idleTime, heardAt, ask, dead)
        wait(from: heardAt())
    }

    /// Waits until nothing has come for long since `time`, in microseconds of ``MainLoop/now``.
    private func wait(from time: Int64) {
        let left = time - MainLoop.now + Int64(idleTime / .microseconds(1))
        timer = .timer(afterAbout: .microseconds(max(0, left))) { [weak self] in
            guard let self else { return }
            // What came meanwhile moves the end of the wait.
            let heard = heardAt()
            if heard > time { wait(from: heard) } else { askNow() }
        }
    }

    private func askNow() {
        timer = nil
        MainLoop.start { [weak self, ask] in
            do {
                try await ask(Self.patience)
            } catch  where DBusError.converting(error).name == .noReply {
                self?.dead(Self.patience)
                return
            } catch {
                // Whoever refuses to answer is there.
            }
            self?.wait(from: MainLoop.now)
        }
    }
}
