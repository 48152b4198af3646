// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop

/// Who is told what becomes of a link.
@MainLoop
protocol LinkOwner: AnyObject {
    /// Both sides have said Hello and had it answered, or one has said it anew.
    func linkSaidHello(_ link: Link)
    /// The link has ended.
    func linkEnded(_ link: Link, _ reason: DBusError)
    /// The other side's user has ended the pairing.
    func linkUnpaired(_ link: Link)
    /// What serves `Pairing` on `link`.
    func pairingServer(for link: Link) -> any PairingServer
    /// What serves `Peer` on `link`.
    func peerServer(for link: Link) -> any PeerServer
    /// The other side opens a stream; the answer is what it is to show, or empty if it has given that.
    func openStream(
        _ id: ContinuationID, token: [UInt8], over link: Link, _ call: MethodCall
    ) async throws -> [UInt8]
}

/// One authenticated connection with another device.
///
/// It is *established* once both sides have said Hello and been answered, and *paired* once both have said
/// that they trust each other.
@MainLoop
final class Link {
    /// How it came to be.
    enum Origin: Equatable {
        /// This device dialled the address.
        case dialled(NetworkAddress)
        /// The other device dialled, from here.
        case accepted(from: String)
    }

    /// How long Hello may take, both ways, and each time that it is said again.
    static let helloTimeout = Duration.seconds(5)
    /// How long something may wait to be acknowledged when the network changes.
    private static let maximumSilence = Duration.seconds(1)
    /// How often the other side may say Hello within a second.
    private static let maximumHellos = 10
    /// How long this side waits before it says Hello again for anything but trust: well within that.
    private static let helloInterval = Duration.milliseconds(250)

    /// Tells links apart; grows.
    let number: Int
    /// The device at the other end.
    let device: DeviceID
    let origin: Origin
    /// When it was established, in microseconds of ``MainLoop/now``.
    private(set) var establishedAt: Int64?
    /// The same, by the wall clock.
    private(set) var establishedTime: Int64?
    /// Whether trust has begun on this link, of which the other side has yet to speak: what it says until then may have been
    /// said before.
    var awaitsTrust = false
    /// Whether it was let in only because its device was a peer once.
    var isFarewell = false
    /// What the other side has said last.
    private(set) var received: LinkHello?
    /// The port on which the other side has said first that it listens.
    private var firstPort: UInt16?
    /// The version of the protocol that both speak.
    private(set) var version = LinkHello.version

    /// 32 bytes that only the two ends know.
    let exporter: [UInt8]
    /// The secret that this link gives to both its ends.
    let secret: PeerSecret
    private let channel: LinkChannel
    private let policy = LinkPolicy()
    private weak var owner: (any LinkOwner)?
    /// What this side has said last.
    private(set) var said: LinkHello?
    /// Waits before Hello is said again, and what is to be said then.
    private var pause: LoopSource?
    private var next: LinkHello?
    private var isAnswered = false
    private var deadline: LoopSource?
    private var hellos = EventRate(limit: maximumHellos)
    private var waiting: [CheckedContinuation<Void, any Error>] = []

    /// - Throws: if TLS does not tell what the secret is made of.
    init(
        _ transport: TLSConnection, as ours: DeviceID, number: Int, origin: Origin, owner: any LinkOwner
    ) throws {
        self.number = number
        self.origin = origin
        self.owner = owner
        device = transport.peer
        exporter = try transport.exporter()
        let isClient = if case .dialled = origin { true } else { false }
        secret = PeerSecret(
            exporter: exporter, client: isClient ? ours : device,
            server: isClient ? device : ours)
        channel = LinkChannel(transport)
    }

    /// The other side's one object.
    var remote: RemoteObject { RemoteObject(channel.connection, nil, .root) }
    var isEstablished: Bool { establishedAt != nil && !isClosed }
    var isPaired: Bool { policy.isPaired && !isClosed }
    var isClosed: Bool { channel.isClosed }

    /// How many more bytes of the other side are taken; nil for no limit.
    var allowance: Int? {
        get { channel.allowance }
        set { channel.allowance = newValue }
    }

    /// What the other side makes this one do is counted here.
    var account: PeerAccount? {
        get { channel.account }
        set { channel.account = newValue }
    }

    /// Whether this device dialled.
    var isDialled: Bool { if case .dialled = origin { true } else { false } }

    /// The IP address of the other end.
    var remoteHost: String { channel.remoteHost }

    /// The bytes of this end's IP address; nil if they are not known.
    var localAddress: [UInt8]? { channel.localAddress }

    /// Where the other end is.
    var remoteAddress: String {
        switch origin {
        case .dialled(let address): address.description
        case .accepted(let address): address
        }
    }

    // MARK: Life

    /// Says `hello` and begins to listen; the other side has `time` for its own.
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

    /// Whether the other side has ended it in order, and not merely gone away.
    var endedInOrder: Bool { channel.endedInOrder }

    /// Ends it at once, because of `why`: for the other side it is cut.
    func close(_ why: String) { channel.close(DBusError(.disconnected, "The link was closed: \(why).")) }

    /// Returns when a link that was ended in order has sent everything, at `deadline` at the latest.
    func awaitSent(until deadline: Int64) { channel.awaitSent(until: deadline) }

    /// Ends it in order when what was sent has left.
    func closeWhenSent(_ why: String) {
        channel.closeWhenSent(DBusError(.disconnected, "The link was closed: \(why)."))
    }

    private func ended(_ reason: DBusError) {
        deadline = nil
        pause = nil
        resume(.failure(reason))
        owner?.linkEnded(self, reason)
    }

    // MARK: Doubt

    /// The user waits for what is sent now: without any sign of the other side, the link is given up soon.
    func expectAcknowledgement() { channel.expectAcknowledgement() }

    /// The network has changed: ends the link if the machine does not have its address any more, else finds out
    /// whether there is still somebody at the other end.
    func check(_ addresses: Set<[UInt8]>?) {
        guard isEstablished else { return }
        if let addresses, let own = channel.localAddress, !addresses.contains(own) {
            return close("this device does not have its address any more")
        }
        // TCP would not try again for a while.
        if let silence = channel.silence, silence.isDoubtful, silence.duration > Self.maximumSilence {
            return close("the other device has not answered for \(silence.duration)")
        }
        probe()
    }

    /// Finds out whether there is still somebody at the other end, unless that is being done.
    func probe() {
        guard isEstablished, pause == nil else { return expectAcknowledgement() }
        if let hello = next ?? said {
            said = nil
            say(hello)
        }
        expectAcknowledgement()
    }

    // MARK: Streams

    /// Where the other side takes connections of streams, if this side has dialled: now, and when it was dialled.
    var streamAddresses: [NetworkAddress] {
        guard case .dialled(let address) = origin else { return [] }
        // A name may mean another machine by now. The zone is only in what was dialled.
        let host = address.host.contains(":") ? address.host : channel.remoteHost
        let former = NetworkAddress(host: host, port: address.port)
        guard let port = received?.port, port != 0, port != address.port else { return [former] }
        let said = NetworkAddress(host: host, port: port)
        // What it has said at first may be the port behind a router or a tunnel, which the link goes through.
        return port == firstPort ? [former, said] : [said, former]
    }

    /// The other side opens a stream.
    func openStream(_ id: ContinuationID, _ token: [UInt8], _ call: MethodCall) async throws -> [UInt8] {
        guard let owner else { throw DBusError(.disconnected, "The link has ended.") }
        return try await owner.openStream(id, token: token, over: self, call)
    }

    private func resume(_ result: Result<Void, any Error>) {
        let continuations = waiting
        waiting = []
        for continuation in continuations { continuation.resume(with: result) }
    }

    // MARK: Hello

    /// Says `hello`, unless that was said last; a moment later if a name has merely changed, and that too soon.
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

    /// Keeps what the other side says; whoever has to know is told by ``LinkObject`` after the answer.
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
        self.version = min(version, LinkHello.version)
        received = hello
        if firstPort == nil, hello.port != 0 { firstPort = hello.port }
        if hello.isPaired { awaitsTrust = false }
        trustChanged()
    }

    /// Says what was heard to whoever has to know.
    func tellHello() {
        if establishedAt == nil { establishIfComplete() } else { owner?.linkSaidHello(self) }
    }

    /// From now on nothing that is for paired devices is open, whatever was said.
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
        owner?.linkSaidHello(self)
        resume(.success(()))
    }
}
