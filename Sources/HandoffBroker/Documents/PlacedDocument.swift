// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// A document that has come and is in its place: in the folder for received documents, or where this device had it already.
struct PlacedDocument: Hashable, Sendable {
    /// The path of the folder.
    let folder: String
    /// Its name in the folder.
    let name: String
    /// Which file it is, as it was left.
    let identity: FileIdentity
    /// Whether it was placed for the continuation. Otherwise the same document was there already, and it is not to be removed
    /// whatever becomes of the continuation.
    var isNew = true

    /// Whether its content was written just now.
    var isWritten = true
    /// Its path without any link; nil if that is not known.
    var realPath: String?
    /// What tells its content from another one; nil as long as nobody has looked.
    var mark: ContentMark?
    /// Whether the document itself is elsewhere on this device, and was left as it is.
    var isBeside = false
    /// The original, of which this is a changed copy; nil unless the original is as the other device knows it.
    var original: String?
    /// What its user has to know of it; empty if nothing.
    var note = ""

    /// Where it is.
    var path: String { "\(folder)/\(name)" }
}
