// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform
internal import Synchronization

/// Brings one document over, on a thread of its own: reads the stream, checks what comes, and places it.
final class DocumentReceiving: Sendable {
    /// What is told on the main loop. After a cancellation nothing is, unless a copy was replaced by then.
    enum Event: Sendable {
        /// More bytes have come, so many of them by now. This is told at most every 100 ms.
        case received(UInt64)
        /// The document is here. Nothing follows.
        case placed(PlacedDocument)
        /// It is not, and nothing is left of it. Nothing follows.
        case failed(HandoffFailure)
    }

    /// What is known of the document.
    let document: DocumentDescription
    private let stream: DocumentStream
    /// The folder that it is placed in.
    let folder: String
    private let isFolderOpen = Atomic<Bool>(false)
    /// Whether the folder has not answered yet, so that nothing can be received.
    var isWaitingForFolder: Bool { !isFolderOpen.load(ordering: .relaxed) }
    /// What the document takes the place of, if that is as it was left.
    private let former: PlacedDocument?
    /// What is here already of this document; nil if nothing is.
    private let known: KnownFiles?
    /// What the device is called that it comes from.
    private let sender: String
    private let tell: @MainLoop @Sendable (Event) -> Void
    private let settled: @MainLoop @Sendable () -> Void

    /// How many microseconds there are at least between two reports.
    private static let interval: Int64 = 100_000

    /// Begins to read from `socket`. What has been placed is found in `folder`.
    /// - Parameter settled: called once nothing incomplete is there any longer, however this ends, a cancellation included.
    /// - Throws: if there is no thread for it; then nothing is called.
    init(
        _ document: DocumentDescription, from socket: consuming FileDescriptor, to folder: String,
        replacing former: PlacedDocument?, known: KnownFiles?, sender: String,
        settled: @escaping @MainLoop @Sendable () -> Void = {},
        _ tell: @escaping @MainLoop @Sendable (Event) -> Void
    ) throws(HandoffFailure) {
        self.document = document
        self.folder = folder
        (self.former, self.known, self.sender) = (former, known, sender)
        self.tell = tell
        self.settled = settled
        stream = DocumentStream(socket)
        do {
            try BackgroundThread.start("document") { [self] in run() }
        } catch {
            throw HandoffFailure(
                .limitsExceeded, "The document cannot be received now: \(error.message). Try again later.")
        }
    }

    /// It is no longer wanted: the stream breaks, and what has come is removed, also if it is complete and nobody has
    /// been told so.
    func cancel() { stream.cancel() }

    private func run() {
        BackgroundThread.giveWay()
        do throws(HandoffFailure) {
            let placed = try receive()
            // What has taken the place of a copy stays.
            guard !stream.isCancelled || !placed.isNew else {
                remove(placed)
                throw DocumentStream.cut
            }
            stream.acknowledge()
            MainLoop.start { [self] in
                settled()
                arrived(placed)
            }
        } catch {
            MainLoop.start { [self] in settled() }
            post(.failed(error))
            stream.awaitAnything()
        }
    }

    /// The document is here, but it may have become unwanted while that was on its way to the main loop. Nobody would
    /// know of the file then.
    @MainLoop
    private func arrived(_ placed: PlacedDocument) {
        guard stream.isCancelled, placed.isNew else { return tell(.placed(placed)) }
        do {
            try BackgroundThread.start("document") { [self] in remove(placed) }
        } catch {
            brokerLog.info(
                "\(PeerText.message(placed.path)) is no longer wanted, but cannot be removed: \(error.message)."
            )
        }
    }

    /// Removes the document, if it is still as it was left.
    private func remove(_ placed: PlacedDocument) {
        ReceivedFolder(existingAt: placed.folder)?.remove(placed)
    }

    private func post(_ event: Event) {
        MainLoop.start { [self] in
            if !stream.isCancelled { tell(event) }
        }
    }

    private func receive() throws(HandoffFailure) -> PlacedDocument {
        let folder = try ReceivedFolder(at: folder)
        let file = try PartialFile(in: folder, size: document.size)
        isFolderOpen.store(true, ordering: .relaxed)
        var content = DocumentContent(size: document.size)
        var lastReport = MainLoop.now
        try stream.read { (bytes) throws(HandoffFailure) in
            guard !stream.isCancelled else { throw DocumentStream.cut }
            try content.add(bytes) { (part) throws(HandoffFailure) in try file.write(part) }
            if MainLoop.now - lastReport >= Self.interval {
                lastReport = MainLoop.now
                post(.received(file.count))
            }
        }
        let mark = try content.check()
        // What follows may take the disk a while.
        post(.received(file.count))
        guard !stream.isCancelled else { throw DocumentStream.cut }
        try file.finish(Self.plausible(document.modified))
        guard !stream.isCancelled else { throw DocumentStream.cut }
        var placed = try place(file, mark)
        placed.mark = mark
        return placed
    }

    /// Places what has come whole: where the document is already, if nothing of the user's can get lost there.
    private func place(_ file: PartialFile, _ mark: ContentMark) throws(HandoffFailure) -> PlacedDocument {
        let name = DocumentName(document.name)
        guard let known else { return try file.place(name, replacing: former) }
        let (isCopy, main) = (known.known.isCopy, known.main)
        // At home it does not get the name of the original, which might be taken for that.
        let nameBeside = isCopy ? name : main.map { DocumentName($0.name).copy(from: sender) } ?? name
        switch known.known.place(of: mark, main: main?.mark, beside: known.beside?.mark) {
        case .there(let isBeside):
            guard let there = isBeside ? known.beside : main else { break }
            if let former, former.identity != there.identity { remove(former) }
            return told(there.placed, known, isBeside)
        case .replacing(let isBeside):
            // Whoever continues one name does not expect that something of another name changes.
            let isWork = !isBeside && main?.mark != known.known.written
            guard let there = isBeside ? known.beside : main,
                (isBeside ? nameBeside : name).isName(of: there.name),
                there.folder.realPath == file.folder.realPath,
                var placed = file.replace(there, isWork: isWork)
            else { break }
            if let former, former.identity != there.identity { remove(former) }
            if isWork {
                placed.note =
                    "\(PeerText.name(there.name)) is what has come from \(sender). What it was before is in the trash, or"
                    + " beside it if there is none."
            }
            return told(placed, known, isBeside)
        case .new: break
        }
        // Of an original that is out of reach it is remembered where it was.
        return told(
            try file.place(nameBeside, replacing: former), known,
            !isCopy || main != nil || known.areUnreachable)
    }

    /// `placed` with what its user and its application have to know, if it is beside the document itself.
    private func told(_ placed: PlacedDocument, _ known: KnownFiles, _ isBeside: Bool) -> PlacedDocument {
        guard isBeside else { return placed }
        var placed = placed
        placed.isBeside = true
        guard let main = known.main else { return placed }
        let isUnchanged = known.known.bases.contains(main.mark)
        // Only a file that is nothing but what has come may go once its content is in the original.
        let isAsWritten = known.beside.map {
            $0.path == placed.realPath && $0.mark == known.known.beside?.mark
        }
        let isOurs = placed.isWritten || isAsWritten == true
        placed.original = isUnchanged && isOurs && !known.known.isCopy ? main.path : nil
        placed.note =
            "\(PeerText.name(main.name)) was changed \(isUnchanged ? "" : "here and ")on \(sender). What has come from"
            + " there is \(PeerText.name(placed.name)), in \(PeerText.message(placed.folder))."
        return placed
    }

    /// The time if it can be one; otherwise the document gets the time of its arrival.
    static func plausible(_ modified: Int64?, now: Int64 = MainLoop.wallClock) -> Int64? {
        // Clocks differ, by some time zones at most.
        guard let modified, modified > 0, modified <= now + 24 * 3600 * 1_000_000 else { return nil }
        return modified
    }
}
