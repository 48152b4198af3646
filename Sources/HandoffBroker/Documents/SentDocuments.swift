// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// The documents that are on their way to peers, one for each at most.
@MainLoop
final class SentDocuments {
    private let peers: any PeerDirectory
    private let looks: FileLooks
    private let memory: DocumentsMemory
    /// The calls that wait for the document before.
    private var waiting: [DeviceID: Awaited<Void>] = [:]
    private var sendings: [DeviceID: (continuation: ContinuationID, sending: DocumentSending)] = [:]
    /// There is no document on its way to this device any more.
    var onClosed: @MainLoop (DeviceID) -> Void = { _ in }

    /// Documents that `looks` opens, for `peers`, and that `memory` knows again.
    init(_ peers: any PeerDirectory, _ looks: FileLooks, _ memory: DocumentsMemory) {
        (self.peers, self.looks, self.memory) = (peers, looks, memory)
    }

    /// Waits a moment for the end of the document that is on its way, if there is one: the bridge may know before the thread
    /// is over that the peer has everything.
    func endFormer(of device: DeviceID) async {
        if sendings[device] != nil { await end(of: device) }
    }

    /// Opens the document of a continuation and begins to send it.
    /// - Parameters:
    ///   - caller: whose application has named the document.
    ///   - isWanted: whether it is still to be sent once it has been opened.
    /// - Returns: the bridge's end, and what the peer is told.
    func open(
        _ url: String, _ id: ContinuationID, for device: DeviceID, of caller: Caller,
        while isWanted: @MainLoop () -> Bool
    ) async throws -> PeerOpenDocumentReply {
        do {
            let document = try await opened(url, of: caller)
            guard isWanted() else { throw HandoffFailure.unknownContinuation(id) }
            return try send(document, id, to: device)
        } catch {
            close(device)
            throw error
        }
    }

    /// Begins to send the content of a clipboard.
    /// - Returns: the bridge's end, and what the peer is told.
    func open(
        _ file: ClipboardFile, _ id: ContinuationID, for device: DeviceID
    ) throws -> PeerOpenDocumentReply {
        do {
            return try send(try SourceDocument(file), id, to: device)
        } catch {
            close(device)
            throw error
        }
    }

    /// Waits a moment for the end of the document that is on its way.
    private func end(of device: DeviceID) async {
        let wait = waiting[device] ?? Awaited()
        waiting[device] = wait
        _ = await wait.value(within: Deadline.formerDocument)
    }

    /// There is no document on its way to the device any more.
    private func close(_ device: DeviceID) {
        onClosed(device)
        waiting.removeValue(forKey: device)?.come(())
    }

    /// A continuation is over: its document is not wanted any more.
    func stop(_ id: ContinuationID, of device: DeviceID) {
        guard let one = sendings[device], one.continuation == id else { return }
        one.sending.stop("its continuation has ended")
    }

    // MARK: Opening

    /// Opens a document. If its file system does not answer, the next one may be asked for all the same.
    private func opened(_ url: String, of caller: Caller) async throws -> SourceDocument {
        // An application in a sandbox may have file systems of its own, which must not keep anybody else from a document.
        let subject = caller.sandbox == nil ? url : caller.name?.text
        return try await looks.find(.sentDocument, of: subject) {
            try SourceDocument(url, of: caller, now: MainLoop.wallClock)
        }
    }

    // MARK: Sending

    private func send(
        _ document: SourceDocument, _ id: ContinuationID, to device: DeviceID
    ) throws -> PeerOpenDocumentReply {
        let pair = try StreamSocket.makeDocumentPair()
        let start = MainLoop.now
        var about = document.about
        about.id = document.path.flatMap { memory.id(at: $0) }
        let sending = try DocumentSending(document, through: pair.theirs) {
            [weak self, documentID = about.id] outcome in
            if case .acknowledged(let mark) = outcome, let documentID {
                self?.memory.sent(documentID, mark, to: device)
            }
            self?.ended(outcome, id, device, since: start)
        }
        sendings[device] = (id, sending)
        return PeerOpenDocumentReply(stream: pair.ours, about: about.about)
    }

    private func ended(
        _ outcome: DocumentSender.Outcome, _ id: ContinuationID, _ device: DeviceID, since start: Int64
    ) {
        sendings[device] = nil
        close(device)
        let fields: KeyValuePairs = ["HANDOFF_CONTINUATION": id.description]
        switch outcome {
        case .acknowledged:
            brokerLog.debug(
                "\(peers.name(of: device)) has the document after \((MainLoop.now - start) / 1000) ms.",
                fields)
        case .failed(let why):
            brokerLog.message(
                "The document was not brought over to \(peers.name(of: device)): \(why).", fields)
        }
    }
}
