// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop

/// A line on a terminal that says how far something is, and is written anew as that changes; if there is no terminal, it
/// shows nothing.
@MainLoop
final class ProgressLine {
    /// Whether there is a terminal to show it on.
    let isTerminal = isatty(STDERR_FILENO) == 1
    private var text: String?
    private var shown: String?
    private var timer: LoopSource?

    /// The least time from one drawing to the next.
    private static let interval = Duration.milliseconds(100)

    /// So much is done, from 0 to 1; nil if that is no longer known.
    func update(_ share: Double?) {
        show(
            share.map {
                ProgressBar.text($0, columns: Self.columns, isUnicode: Terminal.isUnicode)
            })
    }

    /// This is what there is to say, nil for nothing. It has to fit into a line.
    func show(_ text: String?) {
        self.text = text
        guard isTerminal, timer == nil else { return }
        draw()
        timer = .timer(after: Self.interval) { [weak self] in
            guard let self else { return }
            timer = nil
            if self.text != shown { show(self.text) }
        }
    }

    private func draw() {
        guard let text else { return erase() }
        guard text != shown else { return }
        shown = text
        // This returns to the start of the line, and erases to its end whatever is not overwritten.
        Output.error("\r\(text)\u{1B}[K")
    }

    private func erase() {
        if shown != nil { Output.error("\r\u{1B}[K") }
        shown = nil
    }

    /// Erases the line: nothing is shown from now on.
    func end() {
        timer = nil
        text = nil
        erase()
    }

    private static var columns: Int { Terminal.columns(of: STDERR_FILENO) ?? 80 }
}
