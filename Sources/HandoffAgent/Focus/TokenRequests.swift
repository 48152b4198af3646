// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// The questions for a token that are open. Each ends once: by its answer, by its deadline, or with the shell.
@MainLoop
final class TokenRequests {
    private struct Request {
        let continuation: CheckedContinuation<String, Never>
        let deadline: DeadlineTimer
    }

    private let clock: LoopClock
    private var open: [UInt32: Request] = [:]
    private var last: UInt32 = 0

    /// How long an application waits for its token before it does without.
    static let patience = Duration.milliseconds(500)
    /// More than a person can ask for in that time.
    private static let maximumOpen = 16

    /// None is open. Their deadlines go by `clock`.
    init(by clock: LoopClock) { self.clock = clock }

    /// Asks by `send`, which gets the number of the question and says whether it was sent, and waits for the answer; empty if
    /// there is none.
    func ask(_ send: (UInt32) -> Bool) async -> String {
        guard open.count < Self.maximumOpen else { return "" }
        last &+= 1
        let number = last
        guard send(number) else { return "" }
        return await withCheckedContinuation { continuation in
            let deadline = DeadlineTimer(by: clock) { [weak self] in self?.answer(number, "") }
            deadline.set(clock.now + Int64(Self.patience / .microseconds(1)))
            open[number] = Request(continuation: continuation, deadline: deadline)
        }
    }

    /// The answer to a question; ignored if that is not open.
    func answer(_ number: UInt32, _ token: String) {
        guard let request = open.removeValue(forKey: number) else { return }
        request.deadline.set(nil)
        request.continuation.resume(returning: token)
    }

    /// Nobody answers any more.
    func end() {
        for number in open.keys.sorted() { answer(number, "") }
    }
}
