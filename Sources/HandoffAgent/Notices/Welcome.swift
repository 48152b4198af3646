// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffSession
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// Tells once, and never again, that Handoff is there and what to do first, unless a device is paired already.
@MainLoop
final class Welcome {
    private var hasAsked = false

    /// Calls `show` if the user, to whom it can be shown now, is to be told.
    func update(_ report: StatusReport, _ show: @escaping @MainLoop () -> Void) {
        guard !hasAsked, report.broker.content?.isEnabled == true, report.bridge.content != nil
        else { return }
        hasAsked = true
        let isNeeded = report.peers.isEmpty
        MainLoop.start {
            let isFirst = try? await BackgroundThread.run("welcome") { try Self.noteFirst() }
            if isFirst == true, isNeeded { show() }
        }
    }

    /// Notes that the user has been told, and returns whether that was not so before. This may block.
    /// - Throws: if it cannot be noted; then the user is not told either, since it would be again and again.
    private nonisolated static func noteFirst() throws -> Bool {
        if access(HandoffDirectories.welcomed, F_OK) == 0 { return false }
        try SmallFile.write([], to: HandoffDirectories.welcomed)
        return true
    }
}
