// SPDX-License-Identifier: LGPL-2.1-or-later

/// A document that has been placed in the folder for received documents.
struct PlacedDocument: Hashable, Sendable {
    /// The path of the folder.
    let folder: String
    /// Its name in the folder.
    let name: String
    /// Which file it is, as it was left.
    let identity: FileIdentity

    /// Where it is.
    var path: String { "\(folder)/\(name)" }
}
