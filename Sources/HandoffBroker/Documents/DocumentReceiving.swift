// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform
internal import Synchronization

/// Brings one document over, on a thread of its own: reads the stream, checks what comes, and places it.
final class DocumentReceiving: Sendable {
    /// What is told on the main loop. After a cancellation, nothing is.
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
    private let tell: @MainLoop @Sendable (Event) -> Void
    private let settled: @MainLoop @Sendable () -> Void

    /// How many microseconds there are at least between two reports.
    private static let interval: Int64 = 100_000

    /// Begins to read from `socket`. What has been placed is found in `folder`.
    /// - Parameter settled: called once nothing incomplete is there any longer, however this ends, a cancellation included.
    /// - Throws: if there is no thread for it; then nothing is called.
    init(
        _ document: DocumentDescription, from socket: consuming FileDescriptor, to folder: String,
        replacing former: PlacedDocument?, settled: @escaping @MainLoop @Sendable () -> Void = {},
        _ tell: @escaping @MainLoop @Sendable (Event) -> Void
    ) throws(HandoffFailure) {
        self.document = document
        self.folder = folder
        self.former = former
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
            guard !stream.isCancelled else {
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
        guard stream.isCancelled else { return tell(.placed(placed)) }
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
        ReceivedFolder(existingAt: folder)?.remove(placed)
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
        try content.check()
        // What follows may take the disk a while.
        post(.received(file.count))
        guard !stream.isCancelled else { throw DocumentStream.cut }
        return try file.place(
            DocumentName(document.name), modified: Self.plausible(document.modified), replacing: former)
    }

    /// The time if it can be one; otherwise the document gets the time of its arrival.
    static func plausible(_ modified: Int64?, now: Int64 = MainLoop.wallClock) -> Int64? {
        // Clocks differ, by some time zones at most.
        guard let modified, modified > 0, modified <= now + 24 * 3600 * 1_000_000 else { return nil }
        return modified
    }
}
