// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// The last commands of a shell, as text that a person reads.
enum ShellHistory {
    /// How many there are at most.
    static let maximumCount = 20

    /// The last of `lines`, each with control characters replaced and cut to what a person reads.
    static func shown(_ lines: [String]) -> [String] {
        lines.suffix(maximumCount).map(PeerText.message)
    }
}
