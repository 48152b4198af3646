// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop

/// The signals that ask a command to end: SIGINT, SIGTERM, and SIGHUP, which comes when its terminal is gone.
/// As long as this exists, they do nothing but call its body.
@MainLoop
final class EndingSignals {
    private let sources: [LoopSource]

    /// Calls `body` each time one of them comes.
    init(_ body: @escaping @MainLoop () -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP].filter { $0 != SIGHUP || !Self.isIgnored($0) }.map {
            .signal($0, body)
        }
    }

    /// Whether whoever started this program wants that signal to be ignored, as nohup(1) does.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
