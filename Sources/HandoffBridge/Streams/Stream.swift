// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform

/// One stream between an application here and one on a peer, from the moment when it is agreed on; or between the
/// brokers of both, if a document comes over it.
@MainLoop
final class Stream {
    /// What comes over a stream.
    enum Content: Hashable, Sendable {
        /// What two applications say to each other.
        case application
        /// A document, which the origin's broker sends. The brokers are the applications then: they count the
        /// stream themselves, and need no guard, since none of them waits in a write where it has to read an error.
        /// Which end is in order is what decides here whether the document has arrived. So a broker that closes its
        /// end and has left something unread has broken the stream, and each keeps a byte unread until it has done
        /// everything: then even its death is a break.
        case document

        /// How long it may take until the stream is open.
        var openingTime: Duration { self == .document ? Deadline.document : Deadline.stream }

        /// Who has the application's end of the stream.
        func holder(atOrigin isOrigin: Bool) -> ApplicationEnd.Holder {
            switch self {
            case .application: .application
            case .document: isOrigin ? .documentSender : .documentReceiver
            }
        }
    }

    /// What both sides have agreed on.
    struct Agreement: Sendable {
        /// What the asking side is to show if it makes the connection, otherwise empty.
        let token: [UInt8]
        /// What the origin says about the document, if one comes.
        let about: DocumentDescription?
    }

    /// Whose stream it is.
    struct Owner: Hashable, Sendable {
        /// The peer.
        let device: DeviceID
        /// The continuation that it belongs to.
        let continuation: ContinuationID
        /// Whether the activity is one of this session.
        let isOrigin: Bool
    }

    /// Tells streams apart.
    let number: UInt32
    let content: Content
    let owner: Owner
    /// The link over which the stream was agreed on, and with which it ends.
    let link: Link
    /// Nil once it has ended.
    private var application: ApplicationEnd?
    private var life = StreamLife()
    private var pump: StreamPump?
    private var transport: StreamTransport?
    private let start = MainLoop.now
    /// Called when the stream ends before its connection is there.
    var onCutShort: (@MainLoop () -> Void)?
    /// Whether the application has closed its end.
    private(set) var isApplicationGone = false
    /// The wait for the application to close its end.
    private var releasing: LoopSource?

    private static let releaseTime = Duration.milliseconds(100)

    private unowned let streams: Streams

    init(
        _ number: UInt32, _ content: Content, of owner: Owner, over link: Link,
        _ application: ApplicationEnd, _ streams: Streams
    ) {
        self.number = number
        self.content = content
        self.owner = owner
        self.link = link
        self.application = application
        self.streams = streams
    }

    /// Whether the stream is over.
    var hasEnded: Bool { application == nil }

    /// Another descriptor of the application's connection, for whoever is to keep it open; nil if the stream
    /// is over.
    func copyOfEnd() -> FileDescriptor? { application?.copy() }

    /// What the stream is called in the log.
    var label: String {
        "continuation \(owner.continuation), \(content == .document ? "document" : "stream") \(number)"
    }

    /// Begins to move bytes, now that the connection is there.
    func begin(_ connection: TLSConnection) {
        guard let application, let signal = StopSignal() else {
            connection.close()
            return end(.broken("there is no descriptor left"))
        }
        bridgeLog.debug("\(label): open after \((MainLoop.now - start) / 1000) ms.")
        let transport = connection.streamTransport()
        self.transport = transport
        let pump = StreamPump(application, transport, signal) { [weak self] event in
            MainLoop.start { self?.handle(event) }
        } becameActive: { [weak self] in
            MainLoop.start { self?.becameActive() }
        }
        self.pump = pump
        onCutShort = nil
        pump.begin()
    }

    /// Breaks the stream, because of `why`; also before its connection is there.
    func cut(_ why: String) {
        if pump == nil { return end(.broken(why)) }
        handle(.cut(why))
    }

    /// The continuation is over: only what was written before still arrives.
    func release() {
        // An application that ends may leave the bus a moment before the kernel has closed everything that it
        // had open.
        releasing = .timer(after: Self.releaseTime) { [weak self] in
            guard let self, application?.isClosedThere == false else { return }
            cut("its continuation has ended")
        }
    }

    /// The broker here has left the document that comes. Whoever sends it sees that and closes the connection; one that
    /// does not, and sends nothing either, must not keep the next document from coming.
    private func abandon() {
        releasing = .timer(after: Self.releaseTime) { [weak self] in
            self?.cut("its document is not wanted any more")
        }
    }

    private func handle(_ event: StreamLife.Event) {
        if event == .applicationClosed { applicationClosed() }
        if case .sendingFailed = event, content == .document, !owner.isOrigin { abandon() }
        for action in life.handle(event) {
            switch action {
            // The connection lasts until the other application has read everything: if it were closed at
            // once, the other device's kernel would throw away what has not been read.
            case .finish: transport?.endWriting()
            case .stop: pump?.stop()
            case .close(let isClean, let outcome):
                if isClean { application?.settle() }
                transport?.close()
                end(outcome)
            }
        }
    }

    /// From now on, the stream does not count as one of the application's, which has nothing more to do with
    /// it.
    private func applicationClosed() {
        guard !isApplicationGone else { return }
        isApplicationGone = true
        streams.applicationClosed(self)
    }

    private func end(_ outcome: StreamLife.Outcome) {
        guard let application else { return }
        log(outcome)
        if case .broken = outcome { streams.linger(self, application) }
        if pump == nil { onCutShort?() }
        (pump, transport, onCutShort, releasing) = (nil, nil, nil, nil)
        self.application = nil
        applicationClosed()
        streams.ended(self)
    }

    private func log(_ outcome: StreamLife.Outcome) {
        let bytes = pump?.progress ?? StreamPump.Progress(outgoing: 0, incoming: 0)
        let what = "\(bytes.outgoing) bytes out, \(bytes.incoming) in, \((MainLoop.now - start) / 1000) ms"
        switch outcome {
        case .complete: bridgeLog.debug("\(label): complete (\(what)).")
        case .closedHere: bridgeLog.debug("\(label): closed by the application here (\(what)).")
        case .closedThere: bridgeLog.debug("\(label): closed by the other application (\(what)).")
        case .broken(let why): bridgeLog.message("\(label): broken, since \(why) (\(what)).")
        }
    }

    // MARK: Doubt

    private func becameActive() {
        if pump != nil { streams.watch(self) }
    }

    /// Whether the stream has to be looked at again in a while. If what was sent is not acknowledged, the
    /// link is asked for a sign of the other device.
    func look() -> Bool {
        guard let pump, let transport else { return false }
        if let silence = transport.silence {
            if silence.isDoubtful, silence.duration > Streams.patience { link.probe() }
            return true
        }
        return pump.isSending
    }
}
