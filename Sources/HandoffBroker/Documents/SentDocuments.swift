// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// What sending documents needs from the session.
@MainLoop
protocol SentDocumentsOwner: PeerDirectory {
    /// The user's switch.
    var isEnabled: Bool { get }
    /// What peers continue, and which of them is sent a document.
    var origin: OriginContinuations { get set }
    /// What looks at files.
    var looks: FileLooks { get }
}

extension Broker: SentDocumentsOwner {}

/// The documents that are on their way to peers, one for each at most.
@MainLoop
final class SentDocuments {
    private unowned let owner: any SentDocumentsOwner
    /// The calls that wait for the document before.
    private var waiting: [DeviceID: Awaited<Void>] = [:]
    private var sendings: [DeviceID: (continuation: ContinuationID, sending: DocumentSending)] = [:]

    init(_ owner: any SentDocumentsOwner) { self.owner = owner }

    /// Opens the document of a continuation and begins to send it.
    /// - Parameter caller: whose application has named the document.
    /// - Returns: the bridge's end, and what the peer is told.
    func open(
        _ id: ContinuationID, for device: DeviceID, of caller: Caller
    ) async throws -> PeerOpenDocumentReply {
        // The bridge may know before the thread is over that the peer has everything.
        if sendings[device] != nil { await end(of: device) }
        let url = try owner.origin.openDocument(id, of: device)
        // It counts from now on, until it has been sent or cannot be.
        let document = try await opened(url, of: caller, for: device)
        do {
            guard owner.isEnabled, owner.origin.entry(id, of: device) != nil else {
                throw HandoffFailure.unknownContinuation(id)
            }
            return try send(document, id, to: device)
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
        owner.origin.documentClosed(of: device)
        waiting.removeValue(forKey: device)?.come(())
    }

    /// A continuation is over: its document is not wanted any more.
    func stop(_ id: ContinuationID, of device: DeviceID) {
        guard let one = sendings[device], one.continuation == id else { return }
        one.sending.stop("its continuation has ended")
    }

    // MARK: Opening

    /// Opens a document. If its file system does not answer, the next one may be asked for all the same.
    private func opened(
        _ url: String, of caller: Caller, for device: DeviceID
    ) async throws -> SourceDocument {
        // An application in a sandbox may have file systems of its own, which must not keep anybody else from a document.
        let subject = caller.sandbox == nil ? url : caller.name?.text
        do {
            return try await owner.looks.find(.sentDocument, of: subject) {
                try SourceDocument(url, of: caller, now: MainLoop.wallClock)
            }
        } catch {
            close(device)
            throw error
        }
    }

    // MARK: Sending

    private func send(
        _ document: SourceDocument, _ id: ContinuationID, to device: DeviceID
    ) throws -> PeerOpenDocumentReply {
        let pair = try StreamSocket.makeDocumentPair()
        let start = MainLoop.now
        let sending = try DocumentSending(document, through: pair.theirs) { [weak self] outcome in
            self?.ended(outcome, id, device, since: start)
        }
        sendings[device] = (id, sending)
        return PeerOpenDocumentReply(stream: pair.ours, about: document.about.about)
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
                "\(owner.name(of: device)) has the document after \((MainLoop.now - start) / 1000) ms.",
                fields)
        case .failed(let why):
            brokerLog.message(
                "The document was not brought over to \(owner.name(of: device)): \(why).", fields)
        }
    }
}
