// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop

// This file is long because what is said in Hello, and what both ends make of it, is one state.

/// Whoever is told what happens to a link.
@MainLoop
protocol LinkOwner: AnyObject {
    /// Both sides have said Hello and been answered, or the other side has said Hello again.
    func linkSaidHello(_ link: Link)
    /// The link has ended.
    func linkEnded(_ link: Link, _ reason: DBusError)
    /// The other side's user has ended the pairing.
    func linkUnpaired(_ link: Link)
    /// What serves `Pairing` on `link`.
    func pairingServer(for link: Link) -> any PairingServer
    /// What serves `Peer` on `link`.
    func peerServer(for link: Link) -> any PeerServer
    /// The other side opens a stream.
    func openStream(
        _ content: Stream.Content, _ id: ContinuationID, token: [UInt8], over link: Link, _ call: MethodCall
    ) async throws -> Stream.Agreement
    /// The other side has these other peers.
    func introduced(_ list: [Introduction], over link: Link) throws
    /// The other side's user has unpaired these devices.
    func retracted(_ devices: [DeviceID], over link: Link) throws
}

/// One authenticated connection with another device.
///
/// It is *established* once both sides have said Hello and been answered, and *paired* once both have said
/// that they trust each other.
@MainLoop
final class Link {
    /// How the link came about.
    enum Origin: Equatable, CustomStringConvertible {
        /// This device dialled the address.
        case dialled(NetworkAddress)
        /// A carrier has brought it, in words “by ssh”; `isDialled` says whether this device had it connect.
        case carried(String, isDialled: Bool)
        /// The other device dialled, from this address.
        case accepted(from: String)

        var description: String {
            switch self {
            case .dialled(let address): "at \(address)"
            case .carried(let way, _): way
            case .accepted(let address): "from \(address)"
            }
        }

        var isCarried: Bool { if case .carried = self { true } else { false } }

        /// Whether this device dialled, or had a carrier connect.
        var isDialled: Bool {
            switch self {
            case .dialled: true
            case .carried(_, let isDialled): isDialled
            case .accepted: false
            }
        }
    }

    /// How long Hello may take: in both directions, and each time that it is said again.
    static let helloTimeout = Duration.seconds(5)
    /// How long something may wait to be acknowledged when the network changes.
    private static let maximumSilence = Duration.seconds(1)
    /// How often the other side may say Hello within a second.
    private static let maximumHellos = 10
    /// How long this side waits before it says Hello again for anything but trust, so that it stays well
    /// below that limit.
    private static let helloInterval = Duration.milliseconds(250)

    /// Tells links apart; each new link has a higher number.
    let number: Int
    /// The device at the other end.
    let device: DeviceID
    let origin: Origin
    /// When the link was established, in microseconds of ``MainLoop/now``.
    private(set) var establishedAt: Int64?
    /// When the link was established, by the wall clock.
    private(set) var establishedTime: Int64?
    /// Whether trust has begun on this link and the other side has not confirmed it yet: what arrives until
    /// then may have been said before.
    var awaitsTrust = false
    /// Whether the link was let in only because its device used to be a peer.
    var isFarewell = false
    /// Whether a nearer link has taken its place, and this one only stays until its streams have ended.
    var awaitsStreams = false
    /// Whether the address that was dialled is kept with the device, as one at which it was reached.
    var isAddressRemembered = true
    /// What the other side said last.
    private(set) var received: LinkHello?
    /// The first port that the other side has given as the one it listens on.
    private var firstPort: UInt16?

    /// 32 bytes that only the two ends know.
    let exporter: [UInt8]
    /// The secret that this link gives to both its ends.
    let secret: PeerSecret
    private let channel: LinkChannel
    private let policy = LinkPolicy()
    private weak var owner: (any LinkOwner)?
    /// What this side said last.
    private(set) var said: LinkHello?
    /// The wait before Hello is said again, and what is to be said then.
    private var pause: LoopSource?
    private var next: LinkHello?
    private var isAnswered = false
    private var deadline: LoopSource?
    private var hellos = EventRate(limit: maximumHellos)
    private var waiting: [CheckedContinuation<Void, any Error>] = []
    /// For a link that a carrier has brought.
    private(set) var pulse: LinkPulse?

    /// - Throws: if TLS does not tell what the secret is made of.
    init(
        _ transport: TLSConnection, as ours: DeviceID, number: Int, origin: Origin, owner: any LinkOwner
    ) throws {
        self.number = number
        self.origin = origin
        self.owner = owner
        device = transport.peer
        exporter = try transport.exporter()
        secret = PeerSecret(
            exporter: exporter, client: origin.isDialled ? ours : device,
            server: origin.isDialled ? device : ours)
        channel = LinkChannel(transport)
    }

    /// The one object of the other side.
    var remote: RemoteObject { RemoteObject(channel.connection, nil, .root) }
    var isEstablished: Bool { establishedAt != nil && !isClosed }
    var isPaired: Bool { policy.isPaired && !isClosed }
    var isClosed: Bool { channel.isClosed }

    /// How many more bytes are taken from the other side; nil for no limit.
    var allowance: Int? {
        get { channel.allowance }
        set { channel.allowance = newValue }
    }

    /// Where the work is counted that the other side causes here.
    var account: PeerAccount? {
        get { channel.account }
        set { channel.account = newValue }
    }
    /// Whether nothing is read, because what would come of it has no room.
    var isHeldUp: Bool {
        get { channel.isBlocked }
        set { channel.isBlocked = newValue }
    }

    /// Whether this device dialled, or had a carrier connect.
    var isDialled: Bool { origin.isDialled }

    /// The IP address of the other end; ``SocketConnection/carriers`` for a link that a carrier has brought.
    var remoteHost: String { channel.remoteHost }

    /// By which way the other end is reached, the nearest first.
    enum Way: String, CaseIterable, Comparable {
        case sameNetwork = "same-network"
        case otherNetwork = "other-network"
        case carried

        static func < (one: Way, other: Way) -> Bool {
            allCases.firstIndex(of: one) ?? 0 < allCases.firstIndex(of: other) ?? 0
        }
    }

    /// By which way the other end is reached.
    private(set) lazy var way: Way =
        isCarried ? .carried : NetworkInterface.isNear(remoteHost) ? .sameNetwork : .otherNetwork

    /// Whether a carrier has brought the connection.
    var isCarried: Bool { origin.isCarried }

    /// The bytes of this end's IP address; nil if they are not known.
    var localAddress: [UInt8]? { channel.localAddress }

    /// Where the other end is, or in words by which way it is reached.
    var remoteAddress: String {
        switch origin {
        case .dialled(let address): address.description
        case .carried(let way, _): way
        case .accepted(let address): address
        }
    }

    // MARK: Life

    /// Says `hello` and begins to listen; the other side has to say its own Hello within `time`.
    func begin(_ hello: LinkHello, within time: Duration = helloTimeout) {
        guard let owner else { return }
        channel.connection.policy = policy
        channel.connection.onClosed = { [weak self] reason in self?.ended(reason) }
        channel.connection.objects.export(
            .root,
            [
                LinkBinding(LinkObject(self)), PairingBinding(owner.pairingServer(for: self)),
                PeerBinding(owner.peerServer(for: self)),
            ])
        deadline = .timer(after: time) { [weak self] in
            self?.close("it did not say Hello within \(time)")
        }
        say(hello)
        channel.begin()
    }

    /// Returns when the link is established.
    /// - Throws: the reason if it ends before.
    func established() async throws {
        if isEstablished { return }
        guard !isClosed else { throw DBusError(.disconnected, "The link has ended.") }
        try await withCheckedThrowingContinuation { waiting.append($0) }
    }

    /// Whether the other side has ended the link in order, and has not merely gone away.
    var endedInOrder: Bool { channel.endedInOrder }

    /// Ends the link at once, because of `why`. To the other side it looks cut off.
    func close(_ why: String) { channel.close(Self.closed(why)) }

    private static func closed(_ why: String) -> DBusError {
        // What was refused is a sentence already.
        DBusError(.disconnected, "The link was closed: \(why)" + (why.hasSuffix(".") ? "" : "."))
    }

    /// Returns when a link that was ended in order has sent everything, at `deadline` at the latest.
    func awaitSent(until deadline: Int64) { channel.awaitSent(until: deadline) }

    /// Ends the link in order once everything that was sent has left.
    func closeWhenSent(_ why: String) {
        channel.closeWhenSent(Self.closed(why))
    }

    private func ended(_ reason: DBusError) {
        deadline = nil
        pause = nil
        pulse = nil
        resume(.failure(reason))
        owner?.linkEnded(self, reason)
    }

    // MARK: Doubt

    /// The user is waiting for what is sent now: without any sign from the other side, the link is given up
    /// soon.
    func expectAcknowledgement() { channel.expectAcknowledgement() }

    /// The network has changed: ends the link if this machine no longer has the link's address, and otherwise
    /// finds out whether there is still somebody at the other end.
    func check(_ addresses: Set<[UInt8]>?) {
        guard isEstablished else { return }
        if let addresses, let own = channel.localAddress, !addresses.contains(own) {
            return close("this device does not have its address any more")
        }
        // It would be a while before TCP tried again.
        if let silence = channel.silence, silence.isDoubtful, silence.duration > Self.maximumSilence {
            return close("the other device has not answered for \(silence.duration)")
        }
        probe()
    }

    /// Finds out whether there is still somebody at the other end, unless that is already under way.
    func probe() {
        guard isEstablished, pause == nil else { return expectAcknowledgement() }
        if let hello = next ?? said {
            said = nil
            say(hello)
        }
        expectAcknowledgement()
    }

    /// Asks from time to time whether there is still somebody at the other end, which no kernel finds out where a carrier is in
    /// between.
    private func watchPulse() {
        pulse = LinkPulse {
            [channel] in
            channel.heardAt
        } ask: { [remote] time in
            try await LinkProxy(remote).ping(timeout: time)
        } dead: { [weak self] time in
            self?.close("the other device has not answered for \(time)")
        }
    }

    // MARK: Streams

    /// Where the other side accepts connections for streams, if this side has dialled: at the port that it
    /// names now, and at the one that was dialled.
    var streamAddresses: [NetworkAddress] {
        guard case .dialled(let address) = origin else { return [] }
        // A name may mean another machine by now, so its address counts. Only what was dialled has the zone
        // of an IPv6 address.
        let host = address.host.contains(":") ? address.host : channel.remoteHost
        let former = NetworkAddress(host: host, port: address.port)
        guard let port = received?.port, port != 0, port != address.port else { return [former] }
        let said = NetworkAddress(host: host, port: port)
        // The port that it gave at first may be the one behind a router or a tunnel through which the link
        // goes.
        return port == firstPort ? [former, said] : [said, former]
    }

    /// The other side opens a stream.
    func openStream(
        _ content: Stream.Content, _ id: ContinuationID, _ token: [UInt8], _ call: MethodCall
    ) async throws -> Stream.Agreement {
        guard let owner else { throw DBusError(.disconnected, "The link has ended.") }
        return try await owner.openStream(content, id, token: token, over: self, call)
    }

    // MARK: Introductions

    /// Where the other end is, as far as that may be of use to others: where it was dialled, and where it says that it listens.
    var places: [NetworkAddress] {
        if isDialled { return streamAddresses }
        guard !isCarried, let port = received?.port, port != 0 else { return [] }
        return [NetworkAddress(host: channel.remoteHost, port: port)]
    }

    func introduced(_ list: [Introduction]) throws { try owner?.introduced(list, over: self) }
    func retracted(_ devices: [DeviceID]) throws { try owner?.retracted(devices, over: self) }

    private func resume(_ result: Result<Void, any Error>) {
        let continuations = waiting
        waiting = []
        for continuation in continuations { continuation.resume(with: result) }
    }

    // MARK: Hello

    /// Says `hello`, unless that is what was said last. If merely a name has changed, too soon after the last
    /// Hello, it is said a moment later.
    func say(_ hello: LinkHello) {
        next = nil
        guard hello != said, !isClosed else { return }
        let isNews = hello.isPaired != said?.isPaired || said?.name.isEmpty == true && !hello.name.isEmpty
        if pause != nil, !isNews {
            next = hello
            return
        }
        pause = .timer(after: Self.helloInterval) { [weak self] in self?.sayNext() }
        said = hello
        trustChanged()
        MainLoop.start { [weak self, remote] in
            do {
                try await LinkProxy(remote).hello(
                    version: LinkHello.version, about: hello.about, timeout: Self.helloTimeout)
                self?.answered()
            } catch {
                let reason = PeerText.message(DBusError.converting(error).message)
                self?.close("Hello was refused: \(reason)")
            }
        }
    }

    private func sayNext() {
        pause = nil
        if let next { say(next) }
    }

    private func answered() {
        isAnswered = true
        establishIfComplete()
    }

    /// Keeps what the other side says; ``LinkObject`` tells whoever has to know, after the answer.
    /// - Throws: `NotSupported` for a version that cannot be spoken.
    func hear(_ hello: LinkHello, version: UInt32) throws(HandoffFailure) {
        guard hellos.count(at: .now) else {
            close("it said Hello more than \(Self.maximumHellos) times in a second")
            throw HandoffFailure(.limitsExceeded, "Hello comes too often. Say it when something has changed.")
        }
        guard version >= 1 else {
            throw HandoffFailure(
                .notSupported, "Version 0 does not exist. Speak version \(LinkHello.version).")
        }
        received = hello
        if firstPort == nil, hello.port != 0 { firstPort = hello.port }
        if hello.isPaired { awaitsTrust = false }
        trustChanged()
    }

    /// Tells whoever has to know what was heard.
    func tellHello() {
        if establishedAt == nil { establishIfComplete() } else { owner?.linkSaidHello(self) }
    }

    /// From now on, nothing that is meant for paired devices is open, whatever was said before.
    func forgetTrust() {
        said?.isPaired = false
        trustChanged()
    }

    func unpaired() { owner?.linkUnpaired(self) }

    private func trustChanged() { policy.isPaired = said?.isPaired == true && received?.isPaired == true }

    private func establishIfComplete() {
        guard isAnswered, received != nil, establishedAt == nil, !isClosed else { return }
        (establishedAt, establishedTime) = (MainLoop.now, MainLoop.wallClock)
        deadline = nil
        if isCarried { watchPulse() }
        owner?.linkSaidHello(self)
        resume(.success(()))
    }
}
