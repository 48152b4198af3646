// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import HandoffCore

/// The document of a continuation as a file of this machine, and how far it is from being one.
struct DocumentFile {
    /// Where it is; nil as long as it is not here.
    private(set) var path: String?
    /// What has been brought over last, and for which document of the origin.
    private(set) var brought: (document: FetchedDocument, placed: PlacedDocument)?
    /// What is bringing it over.
    var receiving: DocumentReceiving?
    /// Tells the latest attempt to get it from those before, whose answers no longer count.
    private(set) var attempt = 0

    /// Another attempt begins; what the one before still says does not count.
    mutating func begin() -> Int {
        receiving?.cancel()
        receiving = nil
        path = nil
        attempt += 1
        return attempt
    }

    /// It is at `path`, in a shared folder.
    mutating func found(at path: String) { self.path = path }

    /// It has been brought over.
    mutating func arrived(_ placed: PlacedDocument, _ document: FetchedDocument) {
        receiving = nil
        brought = (document, placed)
        path = placed.path
    }

    /// What was brought over before is still the document.
    mutating func keep() { path = brought?.placed.path }

    /// Its URL, percent-encoded; nil as long as it is not here.
    var url: String? {
        guard let path, let uri = g_filename_to_uri(path, nil, nil) else { return nil }
        defer { g_free(uri) }
        return String(cString: uri)
    }
}
