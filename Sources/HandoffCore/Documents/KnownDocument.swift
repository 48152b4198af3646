// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is known here of a document that comes, and what that says of where it is to go.
package struct KnownDocument: Hashable, Sendable {
    /// Its path, in which there is no link.
    package let path: String
    /// What was placed beside it last; nil if nothing was.
    package let beside: KnownDocuments.Beside?
    /// Whether it is a copy that came from the very device that the document now comes from again. Only then may it be
    /// replaced; otherwise it is the user's own, or somebody else's.
    package let isCopy: Bool
    /// The contents that have no changes of this device's own: as a copy came; as the other device has the original.
    package let bases: Set<ContentMark>

    /// What was written there last of what has come; nil if nothing was. A base that is not this is the user's work, which the
    /// other device has had: it is kept if it is replaced.
    package let written: ContentMark?

    /// Where what comes goes.
    package enum Place: Hashable, Sendable {
        /// It is there already: the document itself, or what was placed beside it.
        case there(isBeside: Bool)
        /// It takes the place of the copy, or of what was placed beside the document, in which nothing of the user's is.
        case replacing(isBeside: Bool)
        /// It is placed anew: as the document, or beside it.
        case new(isBeside: Bool)
    }

    /// Where `content` goes.
    /// - Parameters:
    ///   - main: the document as it is; nil if it is not there, or not to be used.
    ///   - now: what was placed beside it, likewise.
    package func place(of content: ContentMark, main: ContentMark?, beside now: ContentMark?) -> Place {
        if content == main { return .there(isBeside: false) }
        if isCopy, let main, bases.contains(main) { return .replacing(isBeside: false) }
        if content == now { return .there(isBeside: true) }
        if isCopy, main == nil { return .new(isBeside: false) }
        return now != nil && now == beside?.mark ? .replacing(isBeside: true) : .new(isBeside: true)
    }
}
