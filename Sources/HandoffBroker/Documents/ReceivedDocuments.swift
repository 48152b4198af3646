// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// The documents that are brought over from peers, and where they are placed.
@MainLoop
final class ReceivedDocuments {
    /// The folder that documents are placed in unless the user has chosen another.
    private let usualFolder: String
    /// The folder that documents are placed in.
    private(set) var folder: String
    /// From whom a document is coming, for which continuation.
    private var coming: [DeviceID: ContinuationID] = [:]
    /// Those of which something incomplete may be there.
    private var receiving: [UInt64: DocumentReceiving] = [:]
    private var lastNumber: UInt64 = 0
    /// Whether no document is brought over any longer, and who waits until nothing incomplete is there.
    private var isEnding = false
    private var settling: [CheckedContinuation<Void, Never>] = []

    /// The documents that were handed off before.
    let memory: DocumentsMemory

    /// Documents are placed in `Handoff` in the folder `downloads`.
    init(in downloads: String = UserDirectories.downloads, _ memory: DocumentsMemory = DocumentsMemory()) {
        self.memory = memory
        usualFolder = "\(downloads)/\(DocumentsFolder.usualName)"
        folder = usualFolder
    }

    /// The next document, and all that follow, are placed in the folder that the user has chosen, or in the usual one for
    /// nil. One that is on its way still goes where it was going.
    func place(in chosen: DocumentsFolder?) {
        folder = chosen?.path ?? usualFolder
    }

    /// Removes what a broker that was killed has left behind, on a thread of its own.
    func removeAbandoned() {
        let path = folder
        try? BackgroundThread.start("documents") {
            BackgroundThread.giveWay()
            guard let folder = ReceivedFolder(existingAt: path) else { return }
            let count = PartialFile.removeAbandoned(from: folder)
            guard count > 0 else { return }
            MainLoop.start {
                brokerLog.info("\(count) documents that never arrived whole have been removed.")
            }
        }
    }

    /// A document of `device` is about to come, for this continuation.
    /// - Throws: if another one is coming from there: one comes at a time.
    func begin(_ id: ContinuationID, from device: DeviceID) throws(HandoffFailure) {
        guard coming[device] == nil || coming[device] == id else {
            throw HandoffFailure(
                .limitsExceeded,
                "Another document is on its way from that device. Wait until it is here, then try again.")
        }
        coming[device] = id
    }

    /// Looks at what is here already of a document that comes from `device`; nil if nothing is known of it.
    func known(_ document: DocumentDescription, from device: DeviceID, _ looks: FileLooks) async
        -> KnownFiles?
    {
        guard let known = document.id.flatMap({ memory.known($0, from: device) }) else { return nil }
        let files = try? await looks.find(.knownDocument, of: known.path) { KnownFiles(known, document.size) }
        return files ?? KnownFiles(unreachable: known)
    }

    /// Begins to bring a document of `device`, which is called `name`, over; see ``DocumentReceiving``.
    /// - Throws: if there is no thread for it, or the broker is about to end.
    func receive(
        _ document: DocumentDescription, from socket: consuming FileDescriptor, of device: DeviceID,
        _ name: String, known: KnownFiles?, replacing former: PlacedDocument?,
        _ tell: @escaping @MainLoop @Sendable (DocumentReceiving.Event) -> Void
    ) throws(HandoffFailure) -> DocumentReceiving {
        guard !isEnding else {
            throw HandoffFailure(
                .connectionUnavailable, "Handoff is ending on this device. Try again once it runs again.")
        }
        lastNumber += 1
        let number = lastNumber
        let noted: @MainLoop @Sendable (DocumentReceiving.Event) -> Void = { [memory] event in
            if case .placed(let placed) = event, let id = document.id {
                memory.came(id, from: device, placed)
            }
            tell(event)
        }
        let begun = try DocumentReceiving(
            document, from: socket, to: folder, replacing: former, known: known, sender: name,
            settled: { [weak self] in self?.settled(number) }, noted)
        receiving[number] = begun
        return begun
    }

    private func settled(_ number: UInt64) {
        receiving[number] = nil
        guard receiving.isEmpty else { return }
        for waiting in settling { waiting.resume() }
        settling = []
    }

    /// Ends for good what is on its way, and waits until nothing incomplete is left of it: at the next start there may be
    /// nobody who would remove that, if Handoff is being removed.
    func settle() async {
        isEnding = true
        for one in receiving.values { one.cancel() }
        guard !receiving.isEmpty else { return }
        await withCheckedContinuation { settling.append($0) }
    }

    /// The document for this continuation is here, or no longer comes.
    func end(_ id: ContinuationID, from device: DeviceID) {
        if coming[device] == id { coming[device] = nil }
    }
}
