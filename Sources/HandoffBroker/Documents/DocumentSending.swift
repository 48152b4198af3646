// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform

/// One document on its way to a peer: its thread, and when that has to end.
@MainLoop
final class DocumentSending {
    private let signal: StopSignal
    private let sender: DocumentSender
    /// Called when the thread is over; nil from then on.
    private var outcome: (@MainLoop (DocumentSender.Outcome) -> Void)?
    /// How far it was when it was last looked at.
    private var seen: UInt64 = 0
    /// Why it was stopped.
    private var reason: String?
    /// Breaks it if the acknowledgement does not follow.
    private var parting: LoopSource?
    private lazy var timer = DeadlineTimer { [weak self] in self?.look() }

    /// Sends `document` through `socket`, which is that of ``StreamSocket/makeDocumentPair()``.
    /// - Parameter outcome: called once, when the thread is over.
    /// - Throws: if there is no descriptor or thread left; then `outcome` is not called.
    init(
        _ document: SourceDocument, through socket: consuming FileDescriptor,
        _ outcome: @escaping @MainLoop (DocumentSender.Outcome) -> Void
    ) throws {
        guard let signal = StopSignal() else {
            throw HandoffFailure(
                .limitsExceeded, "There is no descriptor left for the document. Try again later.")
        }
        self.signal = signal
        sender = DocumentSender(document, through: socket, unless: signal)
        self.outcome = outcome
        try BackgroundThread.start("document out") { [weak self, sender] in
            BackgroundThread.giveWay()
            let outcome = sender.run()
            MainLoop.start { self?.ended(outcome) }
        }
        setTimer()
    }

    /// Breaks it, because of `why`. Whoever has everything may say so a moment after it is done with it.
    func stop(_ why: String) {
        if reason == nil { reason = why }
        guard sender.awaitsAcknowledgement else { return signal.send() }
        parting = .timer(after: Deadline.formerDocument) { [signal] in signal.send() }
    }

    private func ended(_ outcome: DocumentSender.Outcome) {
        timer.set(nil)
        parting = nil
        let report = self.outcome
        self.outcome = nil
        if case .failed(let why) = outcome { report?(.failed(reason ?? why)) } else { report?(outcome) }
    }

    // MARK: Watching

    private func setTimer() {
        timer.set(MainLoop.now + Int64(Deadline.documentReceipt / .microseconds(1)))
    }

    /// The thread notices by itself that the peer takes nothing, but not that the file system gives nothing.
    private func look() {
        guard outcome != nil else { return }
        let progress = sender.progress
        guard progress == seen else {
            seen = progress
            return setTimer()
        }
        stop("its file system does not answer")
        // The thread cannot do it.
        sender.shutDown()
    }
}
