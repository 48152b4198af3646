// SPDX-License-Identifier: LGPL-2.1-or-later

/// What the user wants to become of the clipboard.
package enum ClipboardMode: String, CaseIterable, Sendable {
    /// Peers get what is in it when their user asks for it there; nothing is said of it before.
    case ask
    /// Peers are told that something was copied, and what they say of theirs is taken over.
    case follow
    /// Nothing.
    case off

    /// What `text` stands for.
    /// - Throws: `invalidArguments`, naming the texts that stand for something.
    package init(_ text: String) throws(HandoffFailure) {
        self = try Self.word(text, saying: "what becomes of the clipboard")
    }
}
