// SPDX-License-Identifier: LGPL-2.1-or-later

/// A document that has been placed in the folder for received documents.
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

    /// Where it is.
    var path: String { "\(folder)/\(name)" }
}
