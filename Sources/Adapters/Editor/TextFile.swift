// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// Which files an editor's text may be handed off from, by their names.
enum TextFile {
    /// How long a path may be, in bytes.
    static let maximumPath = 4096
    /// How long a text that was not saved may be to go along, in bytes.
    static let maximumText = 96 << 10

    /// Whether `path` is absolute, of a reasonable length, and has nothing in it that could steer a terminal.
    static func isUsable(_ path: String) -> Bool {
        path.hasPrefix("/") && path.utf8.count <= maximumPath
            && !path.unicodeScalars.contains(where: PeerText.isControl)
    }
}
