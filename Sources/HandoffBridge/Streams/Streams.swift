// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// What streams need from their surroundings.
@MainLoop
protocol StreamsOwner: AnyObject {
    /// What takes the calls of the peer `device`, which has asked for something.
    /// - Throws: if there is no broker that has been told of the peer.
    func callee(of device: DeviceID) async throws -> PeerProxy
    /// There is a new stream, or a new broker that has not been told of it.
    func streamOpened(_ stream: Stream)
    /// A stream no longer belongs to its application.
    func streamClosed(_ stream: Stream)
    /// A stream has ended altogether, perhaps the last of its continuation.
    func streamEnded(_ owner: Stream.Owner)
}

/// All streams: those that applications here have opened, and those that peers have.
@MainLoop
final class Streams {
    /// How long what was sent may wait to be acknowledged before the other device is asked for a sign.
    static let patience = Duration.seconds(1)

    private let state: BridgeState
    private let bridge: any StreamsOwner
    /// What brings about the connections of streams.
    let connector: StreamConnector
    private var streams: [UInt32: Stream] = [:]
    private var nextNumber: UInt32 = 0
    /// What closes the ends of the streams that broke a moment ago, by the numbers of the streams.
    private var lingering: [UInt32: LoopSource] = [:]
    /// How many streams are being opened.
    private var opening: [Share: Int] = [:]
    /// The documents that wait for the end of the one before.
    private var waiting: [Share: Awaited<Void>] = [:]
    /// The streams over which something was sent a short time ago.
    private var watched: [UInt32: Stream] = [:]
    private lazy var timer = DeadlineTimer { [weak self] in self?.look() }

    /// Has `connector` bring about the connections of streams.
    init(_ state: BridgeState, _ bridge: any StreamsOwner, _ connector: StreamConnector) {
        (self.state, self.bridge) = (state, bridge)
        self.connector = connector
    }

    // MARK: Opening

    /// The end of a stream that is not the bridge's, and what is said about the document if one comes over it.
    struct Opened: ~Copyable {
        let end: FileDescriptor
        let about: DocumentDescription?
    }

    /// Opens a stream for an application here that continues something from `peer`, or for its document.
    /// - Returns: the application's end.
    func open(_ content: Stream.Content, _ id: ContinuationID, of peer: Peer) async throws -> Opened {
        guard !state.isSwitchedOff else { throw HandoffFailure.disabled }
        let owner = Stream.Owner(device: peer.device, continuation: id, isOrigin: false)
        let share = Share(content, owner)
        try await reserve(share)
        defer { free(share) }
        let opened: StreamConnector.Opened
        do {
            opened = try await withTimeLimit(content.openingTime) { [connector] in
                try await connector.open(content, id, of: peer)
            }
        } catch is TimeLimitExceeded {
            throw HandoffFailure.unreachable(peer.label, "It did not answer in time. Try again.")
        } catch {
            throw failure(error, peer)
        }
        guard opened.link.isPaired else {
            opened.connection.close()
            throw HandoffFailure.unreachable(peer.label, "The link was lost. Try again.")
        }
        let pair: SocketPair
        do {
            pair = try StreamSocket.makePair()
        } catch {
            opened.connection.close()
            throw error
        }
        add(content, owner, over: opened.link, pair.ours).begin(opened.connection)
        return Opened(end: pair.theirs, about: opened.about)
    }

    private func failure(_ error: any Error, _ peer: Peer) -> HandoffFailure {
        guard state.isOn else { return .disabled }
        if error is HandoffFailure || error is DBusError { return HandoffFailure(routed: error) }
        return .unreachable(peer.label, "No connection for the stream came about (\(error)). Try again.")
    }

    /// A peer opens a stream over `link` to an application here, or for a document.
    /// - Parameter token: what this side has to show to the peer if it makes the connection, otherwise empty.
    func serve(
        _ content: Stream.Content, _ id: ContinuationID, token: [UInt8], over link: Link, _ call: MethodCall
    ) async throws -> Stream.Agreement {
        guard token.count == (link.isDialled ? StreamTokens.size : 0) else {
            throw HandoffFailure(
                .invalidArguments,
                "The token has \(token.count) bytes. Whoever did not dial the link gives \(StreamTokens.size)."
            )
        }
        let owner = Stream.Owner(device: link.device, continuation: id, isOrigin: true)
        let share = Share(content, owner)
        try await reserve(share)
        defer { free(share) }
        let opened = try await open(content, id, at: try await bridge.callee(of: link.device))
        let about = opened.about
        let stream = add(content, owner, over: link, opened.end)
        guard link.isPaired else {
            stream.cut("the link was lost")
            throw HandoffFailure.unreachable("The origin", "The link was lost. Try again.")
        }
        if link.isDialled {
            call.afterReply { [self] in
                connect(stream) { [connector] in try await connector.dial(link, showing: token) }
            }
            return Stream.Agreement(token: [], about: about)
        }
        do {
            let (token, arrival) = try connector.expect(over: link)
            connect(stream) { try await arrival.connection() }
            return Stream.Agreement(token: token, about: about)
        } catch {
            stream.cut("\(error)")
            throw error
        }
    }

    /// Asks the broker for the end of what a peer opens.
    private func open(
        _ content: Stream.Content, _ id: ContinuationID, at broker: PeerProxy
    ) async throws -> Opened {
        switch content {
        case .application:
            let end = try await broker.openStream(continuation: id.description, timeout: Deadline.stream)
            return Opened(end: end, about: nil)
        case .document:
            let limit = Deadline.documentOpening + Deadline.formerDocument * 2
            let reply = try await broker.openDocument(continuation: id.description, timeout: limit)
            let about = try DocumentDescription(reply.about)
            return Opened(end: reply.stream, about: about)
        }
    }

    /// Waits for the connection of `stream`.
    private func connect(
        _ stream: Stream, _ connection: @escaping @MainLoop @Sendable () async throws -> TLSConnection
    ) {
        let task = MainLoop.start {
            do {
                let connection = try await withTimeLimit(Deadline.streamToken, connection)
                if stream.hasEnded { return connection.close() }
                stream.begin(connection)
            } catch {
                stream.cut("its connection did not come about: \(error)")
            }
        }
        // Waiting ends when the stream does, so that nobody is told later that it is open.
        stream.onCutShort = { task.cancel() }
    }

    private func add(
        _ content: Stream.Content, _ owner: Stream.Owner, over link: Link, _ end: consuming FileDescriptor
    ) -> Stream {
        repeat { nextNumber &+= 1 } while streams[nextNumber] != nil
        let end = ApplicationEnd(owning: end, heldBy: content.holder(atOrigin: owner.isOrigin))
        let stream = Stream(nextNumber, content, of: owner, over: link, end, self)
        streams[nextNumber] = stream
        if content == .application { bridge.streamOpened(stream) }
        return stream
    }

    /// There is a new broker.
    func brokerAppeared() {
        for stream in streams.values where stream.content == .application && !stream.isApplicationGone {
            bridge.streamOpened(stream)
        }
    }

    // MARK: Limits

    /// What is limited together.
    private enum Share: Hashable {
        /// The streams of applications with one peer, whoever has opened them.
        case streams(DeviceID)
        /// The documents from one peer, or to it.
        case documents(DeviceID, isOrigin: Bool)

        init(_ content: Stream.Content, _ owner: Stream.Owner) {
            switch content {
            case .application: self = .streams(owner.device)
            case .document: self = .documents(owner.device, isOrigin: owner.isOrigin)
            }
        }
    }

    private func count(_ share: Share) -> Int {
        streams.values.count { Share($0.content, $0.owner) == share } + opening[share, default: 0]
    }

    private func reserve(_ share: Share) async throws(HandoffFailure) {
        switch share {
        case .streams:
            let count = count(share)
            guard count < Quota.streamsOfPeer else {
                throw HandoffFailure(
                    .limitsExceeded,
                    "There are \(count) streams with this device, more are not allowed. Close those that are no"
                        + " longer needed.")
            }
        case .documents:
            // Whoever has received the document before may ask for the next one before its end is known here.
            if count(share) >= Quota.documentsOfPeer { await end(of: share, within: Deadline.formerDocument) }
            guard count(share) < Quota.documentsOfPeer else {
                throw HandoffFailure(
                    .limitsExceeded, "Another document is on its way already. Wait until it has arrived.")
            }
        }
        opening[share, default: 0] += 1
    }

    private func free(_ share: Share) {
        let left = opening[share, default: 0] - 1
        opening[share] = left > 0 ? left : nil
        wake(share)
    }

    /// Waits until there is one fewer of `share`, or until the time is up.
    private func end(of share: Share, within time: Duration) async {
        let wait = waiting[share] ?? Awaited()
        waiting[share] = wait
        _ = await wait.value(within: time)
    }

    /// There may be one fewer of `share` now.
    private func wake(_ share: Share) {
        guard !waiting.isEmpty, count(share) < Quota.documentsOfPeer else { return }
        waiting.removeValue(forKey: share)?.come(())
    }

    // MARK: Ending

    /// Whether a continuation has streams.
    func exist(_ owner: Stream.Owner) -> Bool { streams.values.contains { $0.owner == owner } }

    /// A continuation is over.
    func release(_ owner: Stream.Owner) {
        for stream in streams.values where stream.owner == owner { stream.release() }
    }

    /// A link has ended: the streams that were agreed on over it break. Those of a link that only awaits the end of its streams, and
    /// that the other side has ended in order, have ended there, and only their last bytes are on the way.
    func linkEnded(_ link: Link) {
        connector.linkEnded(link)
        if link.awaitsStreams, link.endedInOrder { return }
        for stream in streams.values where stream.link === link { stream.cut("the link was lost") }
    }

    /// Whether any stream was agreed on over `link`.
    func has(over link: Link) -> Bool { streams.values.contains { $0.link === link } }

    /// Breaks all streams, or all streams with one peer.
    func cutAll(_ why: String, with device: DeviceID? = nil) {
        for stream in streams.values where device == nil || stream.owner.device == device { stream.cut(why) }
    }

    /// To be called by a stream that has ended.
    func ended(_ stream: Stream) {
        streams[stream.number] = nil
        watched[stream.number] = nil
        if stream.link.awaitsStreams, !has(over: stream.link) {
            stream.link.closeWhenSent("its last stream has ended")
        }
        wake(Share(stream.content, stream.owner))
        bridge.streamEnded(stream.owner)
    }

    /// To be called once by each stream when it no longer belongs to its application.
    func applicationClosed(_ stream: Stream) {
        if stream.content == .application { bridge.streamClosed(stream) }
    }

    /// Closes the end of a stream that broke, a moment after its application was prevented from writing.
    func linger(_ stream: Stream, _ application: ApplicationEnd) {
        application.stopReading()
        let number = stream.number
        lingering[number] = .timer(after: StreamSocket.lingerTime) { [weak self] in
            // The closure holds the last reference.
            _ = application
            self?.lingering[number] = nil
        }
    }

    /// Waits until the ends of the streams that broke have lingered long enough; for the end of the program.
    /// - Parameter start: when all streams were cut, in microseconds of ``MainLoop/now``.
    func awaitLingering(since start: Int64) {
        if streams.isEmpty && lingering.isEmpty { return }
        let left = start + Int64(StreamSocket.lingerTime / .microseconds(1)) - MainLoop.now
        if left > 0 { usleep(useconds_t(left)) }
    }

    // MARK: Doubt

    /// Watches `stream` as long as something is sent over it: TCP itself would keep trying for a quarter of
    /// an hour.
    func watch(_ stream: Stream) {
        guard !stream.hasEnded else { return }
        if watched.isEmpty { setTimer() }
        watched[stream.number] = stream
    }

    private func setTimer() { timer.set(MainLoop.now + Int64(Self.patience / .microseconds(1))) }

    private func look() {
        watched = watched.filter { $1.look() }
        if !watched.isEmpty { setTimer() }
    }
}
