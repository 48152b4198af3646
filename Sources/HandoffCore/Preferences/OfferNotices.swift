// SPDX-License-Identifier: LGPL-2.1-or-later

/// When the user wants a notification for what peers offer.
package enum OfferNotices: String, CaseIterable, Sendable {
    /// When the user comes to this machine.
    case arrival
    /// Whenever something is offered.
    case always
    /// Never.
    case never

    /// What `text` stands for.
    /// - Throws: `invalidArguments`, naming the texts that stand for something.
    package init(_ text: String) throws(HandoffFailure) {
        self = try Self.word(text, saying: "when to notify of offers")
    }
}
