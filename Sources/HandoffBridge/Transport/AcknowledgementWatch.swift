// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// How long something has been waiting to be acknowledged.
struct Silence: Equatable {
    /// How long ago the other side last acknowledged anything.
    let duration: Duration
    /// Whether something had to be sent again since then.
    let isDoubtful: Bool
}

/// Finds out that nobody is at the other end any more, soon after something was sent: TCP itself would send
/// it again and again, and wait twice as long each time. While nothing is sent, there is no timer.
@MainLoop
final class AcknowledgementWatch {
    /// How long the other side's kernel has to acknowledge what is sent.
    static let patience = Duration.seconds(3)
    /// How long it has when the user is waiting for the result.
    static let shortPatience = Duration.seconds(2)

    private let silence: @MainLoop () -> Silence?
    private let body: @MainLoop (Duration) -> Void
    private var deadline: Int64?
    /// Since when an acknowledgement is expected.
    private var begin: Int64 = 0
    private var limit = patience
    private lazy var timer = DeadlineTimer { [weak self] in self?.look() }

    /// Calls `body` when nothing was heard for too long.
    /// - Parameter silence: gives the silence of the other side; nil if nothing is to be acknowledged.
    init(_ silence: @escaping @MainLoop () -> Silence?, _ body: @escaping @MainLoop (Duration) -> Void) {
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
        // If something was acknowledged since then, somebody is there.
        if silence.isDoubtful, silence.duration >= .microseconds(MainLoop.now - begin) { return body(limit) }
        expect(within: limit)
    }
}
