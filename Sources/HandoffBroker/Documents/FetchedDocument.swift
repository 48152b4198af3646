// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is known of the document of a fetched activity before it is here. Everything in it comes from a peer.
struct FetchedDocument: Equatable, Sendable {
    /// Its URL at the origin, by which nothing is found here: it only tells one document from another.
    var url = ""
    /// Where the same item is, or will be once it has been synchronised: a path beneath a shared folder of this
    /// machine; nil if the document is in none.
    var sharedPath: String?
    /// That shared folder, out of which no link may lead; nil if the document is in none.
    var sharedFolder: String?
    /// How many bytes it has at the origin; nil if that is not known.
    var size: UInt64?
    /// When it was modified at the origin, in microseconds since the Unix epoch; nil if that is not known.
    var modified: Int64?
}
