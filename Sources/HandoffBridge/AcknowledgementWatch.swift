// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Finds out that nobody is at the other end any more, soon after something was sent: TCP itself would send it again
/// and again, each time after twice the time. While nothing is sent there is no timer.
@MainLoop
final class AcknowledgementWatch {
    /// How long the other side's kernel has to acknowledge what is sent.
    static let patience = Duration.seconds(3)
    /// The same when the user waits for it.
    static let shortPatience = Duration.seconds(2)

    private let silence: @MainLoop () -> Duration?
    private let body: @MainLoop (Duration) -> Void
    private var deadline: Int64?
    /// Since when something is expected.
    private var begin: Int64 = 0
    private var limit = patience
    private lazy var timer = DeadlineTimer { [weak self] in self?.look() }

    /// Calls `body` when nothing was heard for too long.
    /// - Parameter silence: how long ago something was acknowledged; nil if nothing had to be sent again.
    init(_ silence: @escaping @MainLoop () -> Duration?, _ body: @escaping @MainLoop (Duration) -> Void) {
        self.silence = silence
        self.body = body
    }

    /// Something was sent, which is to be acknowledged within `time`.
    func expect(within time: Duration = patience) {
        let now = MainLoop.now
        let new = now + Int64(time / .microseconds(1))
        if let deadline, deadline <= new { return }
        (begin, deadline, limit) = (now, new, time)
        timer.set(new)
    }

    /// Nothing more is expected.
    func stop() {
        deadline = nil
        timer.set(nil)
    }

    private func look() {
        deadline = nil
        guard let silence = silence() else { return }
        // What was acknowledged since then shows that there is somebody.
        if silence >= .microseconds(MainLoop.now - begin) { return body(limit) }
        expect(within: limit)
    }
}
