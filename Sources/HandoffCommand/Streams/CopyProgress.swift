// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Shows on a terminal how far a copy has got; if there is no terminal, it shows nothing.
@MainLoop
final class CopyProgress {
    private let copy: ByteCopy
    /// How many bytes there will be, if that is known.
    private let total: Int?
    private let start = MainLoop.now
    private var timer: LoopSource?
    private var isShown = false

    private static let interval = Duration.milliseconds(250)

    /// Begins to show it.
    init(of copy: ByteCopy, total: Int? = nil) {
        self.copy = copy
        self.total = total
        if isatty(STDERR_FILENO) == 1 { setTimer() }
    }

    private func setTimer() {
        timer = .timer(after: Self.interval) { [weak self] in
            guard let self else { return }
            show()
            setTimer()
        }
    }

    private func show() {
        isShown = true
        // This returns to the start of the line, and erases to its end whatever is not overwritten.
        Output.error("\r\(state)\u{1B}[K")
    }

    private var state: String {
        let count = copy.count
        guard let total, total > 0 else { return "\(Self.size(count)), \(rate)" }
        return tr(
            "{size} of {total}, {percentage} %, {rate}",
            [
                "size": Self.size(count), "total": Self.size(total), "percentage": "\(count * 100 / total)",
                "rate": rate,
            ])
    }

    /// Erases the line.
    func end() {
        timer = nil
        if isShown { Output.error("\r\u{1B}[K") }
    }

    /// How much there was, and how fast.
    var summary: String { "\(Self.size(copy.count)) (\(rate))" }

    private var rate: String {
        let time = max(1, MainLoop.now - start)
        return "\(Self.size(Int(Double(copy.count) * 1_000_000 / Double(time))))/s"
    }

    private static func size(_ bytes: Int) -> String { ByteCount.text(UInt64(clamping: bytes)) }
}
