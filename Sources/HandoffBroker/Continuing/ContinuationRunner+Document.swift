// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStarting
internal import MainLoop
internal import Platform

extension ContinuationRunner {
    // MARK: Shared folders

    /// Finds out where the document is, which has just been fetched anew.
    func look(for document: FetchedDocument?) async -> Continuation.Document {
        guard let document else { return .none }
        if documentFile.keep(document) { return .present }
        guard let path = document.sharedPath else { return .remote }
        // It takes so long only if the folder does not answer.
        switch await owner.tools.looks.look(
            .sharedCopy, of: document.sharedFolder ?? path, { CopyLook.at(path, of: document) })
        {
        case .current:
            documentFile.found(at: path)
            return .present
        case .changing, .behind, .missing: return .awaited
        // A folder that does not answer keeps nobody waiting, and neither does one that a link leads out of.
        case .outside, nil: return .remote
        }
    }

    /// Waits until the document has been synchronised to this machine.
    func awaitDocument() async {
        let attempt = documentFile.begin()
        guard let document, let path = document.sharedPath else {
            return perform(machine.documentFailed(DocumentStream.cut, at: owner.tools.clock.instant))
        }
        do {
            documentFile.awaiting = try DocumentAwaiting(document, at: path) { [weak self] event in
                self?.awaited(event, document, path, attempt)
            }
        } catch {
            perform(machine.documentFailed(error, at: owner.tools.clock.instant))
        }
    }

    private func awaited(
        _ event: DocumentAwaiting.Event, _ document: FetchedDocument, _ path: String, _ attempt: Int
    ) {
        guard attempt == documentFile.attempt else { return }
        switch event {
        case .grown(let count):
            if let size = document.size, count <= size { showProgress(count, of: size) }
        case .arrived:
            documentFile.found(at: path)
            documentArrived()
        case .failed(let failure):
            brokerLog.debug("continuation \(id): \(failure.message)")
            perform(machine.documentFailed(failure, at: owner.tools.clock.instant))
        }
    }

    private func documentArrived() {
        documentFile.describe(&activity)
        brokerLog.debug(
            "continuation \(id): the document is \(PeerText.message(documentFile.path ?? "nowhere"))")
        offers.setProgress(1, key)
        perform(machine.documentArrived(at: owner.tools.clock.instant))
    }

    // MARK: Bringing it over

    /// Brings the document over from the origin.
    func bringDocument() async {
        let attempt = documentFile.begin()
        do {
            try owner.tools.documents.begin(id, from: device)
            let reply = try await owner.peers.bridgePeer(device).openDocument(
                continuation: id.description, timeout: Deadline.documentSilence * 2)
            guard attempt == documentFile.attempt else { return }
            let about = try DocumentDescription(reply.about)
            let known = await owner.tools.documents.known(about, from: device, owner.tools.looks)
            guard attempt == documentFile.attempt else { return }
            documentFile.receiving = try owner.tools.documents.receive(
                about, from: reply.stream, of: device, owner.peers.name(of: device), known: known,
                replacing: documentFile.brought?.placed
            ) { [weak self] event in self?.received(event, about, attempt) }
            showProgress(0, of: about.size)
        } catch {
            guard attempt == documentFile.attempt else { return }
            documentFailed(HandoffFailure(routed: error))
        }
    }

    private func received(_ event: DocumentReceiving.Event, _ about: DocumentDescription, _ attempt: Int) {
        guard attempt == documentFile.attempt else { return }
        switch event {
        case .received(let count):
            machine.documentProgressed(to: count, of: about.size, at: owner.tools.clock.instant)
            perform([])
            showProgress(count, of: about.size)
        case .placed(let placed):
            owner.tools.documents.end(id, from: device)
            documentFile.arrived(placed, document ?? FetchedDocument())
            documentArrived()
        case .failed(let failure): documentFailed(failure)
        }
    }

    private func documentFailed(_ failure: HandoffFailure) {
        documentFile.receiving = nil
        owner.tools.documents.end(id, from: device)
        perform(machine.documentFailed(failure, at: owner.tools.clock.instant))
    }

    private func showProgress(_ count: UInt64, of size: UInt64?) {
        guard let size else { return }
        offers.setProgress(size == 0 ? 1 : Double(count) / Double(size), key)
    }

    /// Nothing more comes of the continuation, so the document is not needed.
    func stopDocument() {
        _ = documentFile.begin()
        owner.tools.documents.end(id, from: device)
    }

    // MARK: Opening it

    /// Opens the document with `application`, which did not take the activity, if it says that it opens such documents;
    /// otherwise with what the user opens them with.
    func openDocument(by application: ApplicationID?) async {
        guard let path = documentFile.path, let url = documentFile.url else {
            return perform(machine.openFailed(.documentMissing(machine.offer)))
        }
        do {
            // Both are found out where it may block.
            let (type, usual): (String, ApplicationID?) = try await owner.tools.looks.find(.openedDocument) {
                let types = ContentTypes()
                let type = try DocumentKind(of: path).opened(types)
                if let application, DefaultLists.opens(type, application, types) {
                    return (type, application)
                }
                return (type, DefaultLists().applications(for: [type])[type])
            }
            guard let application = chosenApplication(for: type) ?? usual else {
                throw HandoffFailure(
                    .noApplication,
                    "No application here opens documents of the type \(PeerText.message(type)). Install one, or"
                        + " choose one for that type in the settings of your desktop.")
            }
            try checkExcluded(application)
            try await owner.tools.starter.open(url, with: application, activationToken: activationToken)
            openedWith = application
            brokerLog.debug("continuation \(id): the document is opened with \(application)")
            perform(machine.opened(at: owner.tools.clock.instant))
        } catch {
            perform(machine.openFailed(HandoffFailure(routed: error)))
        }
    }

    /// What the user has chosen to open the document with, if it is what the peer said that it is.
    private func chosenApplication(for type: String) -> ApplicationID? {
        guard case .documentApplication(let application) = machine.target, machine.offer.documentType == type
        else { return nil }
        return application
    }

    /// The application has been handed the activity: if it was told of the original, it may have shown what has changed in
    /// that, and removed the copy.
    func noteCopyTaken() async {
        guard activity["OriginalURL"] != nil, let path = documentFile.path else { return }
        let isThere = await owner.tools.looks.look(.openedDocument, of: path) { access(path, F_OK) == 0 }
        if isThere == false { documentFile.copyTaken() }
    }

    // MARK: Sandboxes

    /// What the application is handed: the activity, with the document where the application can open it.
    /// - Returns: nil if the application's sandbox keeps the document from it.
    func activityToDeliver() async -> [String: Value]? {
        guard let path = documentFile.path, let name = registered?.name, let sandbox = await sandbox(of: name)
        else { return activity }
        do {
            guard case .flatpak(let application) = sandbox, !application.isEmpty else {
                throw DBusError(.failed, "Its sandbox is not known.")
            }
            let portal = DocumentPortal(bus: owner.tools.bus, looks: owner.tools.looks)
            let seen = try await portal.share(path, with: application)
            var activity = activity
            activity["DocumentURL"] = FileURL.text(Array(seen.utf8)).map { .string($0) }
            activity["OriginalURL"] = nil
            return activity
        } catch {
            let reason = PeerText.message(DBusError.converting(error).message)
            brokerLog.info("continuation \(id): \(name) cannot be given access to the document: \(reason)")
            return nil
        }
    }

    /// The sandbox of a connection that has called us; nil if it is in none.
    private func sandbox(of name: BusName) async -> Sandbox? {
        // A connection that has left the bus is handed nothing anyway.
        guard owner.tools.bus.knows(name) else { return .unknown }
        return await withCheckedContinuation { continuation in
            owner.tools.bus.identify(name) { continuation.resume(returning: $0.sandbox) }
        }
    }
}
