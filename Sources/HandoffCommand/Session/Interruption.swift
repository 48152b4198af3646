// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import MainLoop
internal import Platform

/// Ctrl+C, as long as this exists: cancels what the broker has accepted, which then brings its outcome. Who presses it a second
/// time does not want to wait for a broker that does not answer.
@MainLoop
final class Interruption {
    /// Whether it was pressed.
    private(set) var hasCome = false

    private let progress: ProgressLine
    private let cancel: @MainLoop () async throws -> Void
    private var signal: LoopSource?
    private var isAccepted = false

    /// Calls `cancel` if Ctrl+C is pressed, once it is ``accepted()``. Before anything is said, `progress` is erased.
    init(_ progress: ProgressLine, cancel: @escaping @MainLoop () async throws -> Void) {
        (self.progress, self.cancel) = (progress, cancel)
        signal = .signal(SIGINT) { [weak self] in self?.interrupted() }
    }

    /// From now on it can be cancelled.
    func accepted() {
        isAccepted = true
        if hasCome { MainLoop.start { [self] in await end() } }
    }

    private func interrupted() {
        if hasCome {
            progress.end()
            exit(128 + SIGINT)
        }
        hasCome = true
        if isAccepted { MainLoop.start { [self] in await end() } }
    }

    private func end() async {
        do {
            try await cancel()
        } catch {
            progress.end()
            Output.note(
                tr(
                    "It was not cancelled: {reason}",
                    ["reason": CommandFailure(DBusError.converting(error)).message]))
        }
    }
}
