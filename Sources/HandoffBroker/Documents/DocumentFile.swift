// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// The document of a continuation as a file of this machine, and how far it is from being one.
struct DocumentFile {
    /// Where it is; nil as long as it is not here.
    private(set) var path: String?
    /// What has been brought over last, and for which document of the origin.
    private(set) var brought: (document: FetchedDocument, placed: PlacedDocument)?
    /// What is bringing it over.
    var receiving: DocumentReceiving?
    /// What waits for it in a shared folder.
    var awaiting: DocumentAwaiting?
    /// Tells the latest attempt to get it from those before, whose answers no longer count.
    private(set) var attempt = 0

    /// Another attempt begins; what the one before still says does not count.
    mutating func begin() -> Int {
        receiving?.cancel()
        awaiting?.cancel()
        (receiving, awaiting) = (nil, nil)
        path = nil
        attempt += 1
        return attempt
    }

    /// It is at `path`, in a shared folder.
    mutating func found(at path: String) {
        awaiting = nil
        self.path = path
    }

    /// It has been brought over.
    mutating func arrived(_ placed: PlacedDocument, _ document: FetchedDocument) {
        receiving = nil
        brought = (document, placed)
        path = placed.path
    }

    /// The activity has been fetched once more, with this document.
    /// - Returns: whether that is what has been brought over before, and has certainly not changed since.
    mutating func keep(_ document: FetchedDocument) -> Bool {
        guard let brought, brought.document == document, document.size != nil, document.modified != nil else {
            return false
        }
        path = brought.placed.path
        return true
    }

    /// Its URL, percent-encoded; nil as long as it is not here.
    var url: String? {
        path.flatMap { FileURL.text(Array($0.utf8)) }
    }

    /// Names it, as long as it is here, in an activity.
    func describe(_ activity: inout [String: Value]) {
        activity["DocumentURL"] = url.map { .string($0) }
        let original = path == brought?.placed.path ? brought?.placed.original : nil
        activity["OriginalURL"] = original.flatMap { FileURL.text(Array($0.utf8)) }.map { .string($0) }
    }

    /// What its user has to know of it once the activity is continued; empty if nothing.
    var note: String { path == brought?.placed.path ? brought?.placed.note ?? "" : "" }

    /// The application has taken the content of the changed copy over into the original, and the copy away.
    mutating func copyTaken() { brought?.placed.note = "" }

    /// What an error adds for the user, who has the document now, whatever else went wrong, or does not have it because
    /// the folder for it hangs.
    var whereabouts: String {
        if let path { return " The document is here: \(PeerText.message(path))." }
        guard let receiving, receiving.isWaitingForFolder else { return "" }
        return
            " The folder for documents, \(PeerText.message(receiving.folder)), does not answer: its file system may"
            + " hang. Choose another folder for them (DocumentsFolder in the settings) or look after that one."
    }
}
