// SPDX-License-Identifier: LGPL-2.1-or-later

/// What the side that was dialled says first (protocol.md, "Opening").
package enum Greeting {
    /// The bytes that it begins with.
    package static let magic = Array("HANDOFF1".utf8)
}
