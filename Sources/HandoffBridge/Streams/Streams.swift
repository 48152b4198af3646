// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop

/// What streams need from their surroundings.
@MainLoop
protocol StreamsOwner: AnyObject {
    /// Whether Handoff is on.
    var isOn: Bool { get }
    /// Whether the user's switch is known to be off: a bridge that has just begun does not know it yet.
    var isSwitchedOff: Bool { get }
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

    private let bridge: any StreamsOwner
    /// What brings about the connections of streams.
    let connector: StreamConnector
    private var streams: [UInt32: Stream] = [:]
    private var nextNumber: UInt32 = 0
    /// What closes the ends of the streams that broke a moment ago, by the numbers of the streams.
    private var lingering: [UInt32: LoopSource] = [:]
    /// How many streams are being opened with each peer.
    private var opening: [DeviceID: Int] = [:]
    /// The streams over which something was sent a short time ago.
    private var watched: [UInt32: Stream] = [:]
    private lazy var timer = DeadlineTimer { [weak self] in self?.look() }

    /// Has `connector` bring about the connections of streams.
    init(_ bridge: any StreamsOwner, _ connector: StreamConnector) {
        self.bridge = bridge
        self.connector = connector
    }

    // MARK: Opening

    /// Opens a stream for an application here that continues something from `peer`.
    /// - Returns: the application's end.
    func open(_ id: ContinuationID, of peer: Peer) async throws -> FileDescriptor {
        guard !bridge.isSwitchedOff else { throw HandoffFailure.disabled }
        try reserve(peer.device)
        defer { free(peer.device) }
        let opened: StreamConnector.Opened
        do {
            opened = try await withTimeLimit(Deadline.stream) { [connector] in
                try await connector.open(id, of: peer)
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
        let owner = Stream.Owner(device: peer.device, continuation: id, isOrigin: false)
        add(owner, over: opened.link, pair.ours).begin(opened.connection)
        return pair.theirs
    }

    private func failure(_ error: any Error, _ peer: Peer) -> HandoffFailure {
        guard bridge.isOn else { return .disabled }
        if error is HandoffFailure || error is DBusError { return HandoffFailure(routed: error) }
        return .unreachable(peer.label, "No connection for the stream came about (\(error)). Try again.")
    }

    /// A peer opens a stream over `link` to an application here.
    /// - Parameter token: what this side has to show to the peer if it makes the connection, otherwise empty.
    /// - Returns: what the peer has to show if it makes the connection, otherwise empty.
    func serve(
        _ id: ContinuationID, token: [UInt8], over link: Link, _ call: MethodCall
    ) async throws -> [UInt8] {
        guard token.count == (link.isDialled ? StreamTokens.size : 0) else {
            throw HandoffFailure(
                .invalidArguments,
                "The token has \(token.count) bytes. Whoever did not dial the link gives \(StreamTokens.size)."
            )
        }
        try reserve(link.device)
        defer { free(link.device) }
        let broker = try await bridge.callee(of: link.device)
        let end = try await broker.openStream(continuation: id.description, timeout: Deadline.stream)
        let owner = Stream.Owner(device: link.device, continuation: id, isOrigin: true)
        let stream = add(owner, over: link, end)
        guard link.isPaired else {
            stream.cut("the link was lost")
            throw HandoffFailure.unreachable("The origin", "The link was lost. Try again.")
        }
        if link.isDialled {
            call.afterReply { [self] in
                connect(stream) { [connector] in try await connector.dial(link, showing: token) }
            }
            return []
        }
        do {
            let (token, arrival) = try connector.expect(over: link)
            connect(stream) { try await arrival.connection() }
            return token
        } catch {
            stream.cut("\(error)")
            throw error
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

    private func add(_ owner: Stream.Owner, over link: Link, _ end: consuming FileDescriptor) -> Stream {
        repeat { nextNumber &+= 1 } while streams[nextNumber] != nil
        let stream = Stream(nextNumber, of: owner, over: link, ApplicationEnd(owning: end), self)
        streams[nextNumber] = stream
        bridge.streamOpened(stream)
        return stream
    }

    private func reserve(_ device: DeviceID) throws(HandoffFailure) {
        let count = streams.values.count { $0.owner.device == device } + opening[device, default: 0]
        guard count < Quota.streamsOfPeer else {
            throw HandoffFailure(
                .limitsExceeded,
                "There are \(count) streams with this device, more are not allowed. Close those that are no longer"
                    + " needed.")
        }
        opening[device, default: 0] += 1
    }

    private func free(_ device: DeviceID) {
        let left = opening[device, default: 0] - 1
        opening[device] = left > 0 ? left : nil
    }

    /// There is a new broker.
    func brokerAppeared() {
        for stream in streams.values where !stream.isApplicationGone { bridge.streamOpened(stream) }
    }

    // MARK: Ending

    /// Whether a continuation has streams.
    func exist(_ owner: Stream.Owner) -> Bool { streams.values.contains { $0.owner == owner } }

    /// A continuation is over.
    func release(_ owner: Stream.Owner) {
        for stream in streams.values where stream.owner == owner { stream.release() }
    }

    /// A link has ended: the streams that were agreed on over it break.
    func linkEnded(_ link: Link) {
        connector.linkEnded(link)
        for stream in streams.values where stream.link === link { stream.cut("the link was lost") }
    }

    /// Breaks all streams, or all streams with one peer.
    func cutAll(_ why: String, with device: DeviceID? = nil) {
        for stream in streams.values where device == nil || stream.owner.device == device { stream.cut(why) }
    }

    /// To be called by a stream that has ended.
    func ended(_ stream: Stream) {
        streams[stream.number] = nil
        watched[stream.number] = nil
        bridge.streamEnded(stream.owner)
    }

    /// To be called once by each stream when it no longer belongs to its application.
    func applicationClosed(_ stream: Stream) { bridge.streamClosed(stream) }

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
