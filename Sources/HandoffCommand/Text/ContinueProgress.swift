// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop

/// Shows on a terminal how far a continuation has got, as long as that is known; if there is no terminal, it shows
/// nothing.
@MainLoop
final class ContinueProgress {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var share: Double?
    private var shown: String?
    private var timer: LoopSource?

    /// The least time from one drawing to the next.
    private static let interval = Duration.milliseconds(100)

    /// This much is done, from 0 to 1; nil if that is no longer known.
    func update(_ share: Double?) {
        self.share = share
        guard isTerminal, timer == nil else { return }
        draw()
        timer = .timer(after: Self.interval) { [weak self] in
            guard let self else { return }
            timer = nil
            if self.share.map({ text($0) }) != shown { update(self.share) }
        }
    }

    private func draw() {
        guard let share else { return erase() }
        let text = text(share)
        guard text != shown else { return }
        shown = text
        // This returns to the start of the line, and erases to its end whatever is not overwritten.
        Output.error("\r\(text)\u{1B}[K")
    }

    private func text(_ share: Double) -> String {
        ProgressBar.text(share, columns: Self.columns, isUnicode: Terminal.isUnicode)
    }

    private func erase() {
        if shown != nil { Output.error("\r\u{1B}[K") }
        shown = nil
    }

    /// Erases the line: nothing is shown from now on.
    func end() {
        timer = nil
        share = nil
        erase()
    }

    private static var columns: Int { Terminal.columns(of: STDERR_FILENO) ?? 80 }
}
