// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffDaemon
internal import MainLoop
internal import Platform

/// What the links need from their surroundings, besides what each single link needs.
@MainLoop
protocol LinksOwner: LinkOwner {
    /// What the device at the other end of `link` is told.
    func hello(for link: Link) -> LinkHello
    /// Whether a connection from the IP address `host` is accepted if its device shows no secret that is
    /// known here.
    func welcomesStranger(from host: String) -> Bool
    /// Whether a pairing dialogue is under way over `link`.
    func isPairing(over link: Link) -> Bool
    /// Whether this device takes part in a pairing dialogue over `link`, which strangers that come later must
    /// not end.
    func isPairingAgreed(over link: Link) -> Bool
    /// Whether the one pairing attempt that the session of `link` allows is under way on both sides.
    func isPairingAnswered(over link: Link) -> Bool
    /// Whether there are streams that were agreed on over `link`.
    func hasStreams(over link: Link) -> Bool
}

/// All links, and which of them is the current one with each device.
@MainLoop
final class Links {
    /// How many links strangers can have in all.
    static let maximumStrangers = 8
    /// How many links a peer can have, while they replace each other.
    static let maximumOfPeer = 4
    /// How many bytes are taken from a device before it is paired.
    static let strangersAllowance = 64 << 10
    /// How many bytes are taken from a device that is let in only to be told that it is no longer a peer:
    /// enough for its Hello and its answers.
    static let farewellAllowance = 4 << 10
    /// How many links of strangers who are waiting for the user are sure to keep their place.
    private static let heldStrangers = maximumStrangers / 2
    /// How long the end of a program waits for other devices, in microseconds.
    private static let finishingTime: Int64 = 100_000

    /// The established link with each device.
    private(set) var current: [DeviceID: Link] = [:]
    /// Every link that has not ended, in the order in which they came.
    private var all: [Link] = []
    private var nextNumber = 0
    private let state: BridgeState
    private let owner: any LinksOwner
    /// The processor time that devices take. The links of a device are read only while it has not had too
    /// much.
    private lazy var times = TimeKeeper { [weak self] device in self?.bar(device) }

    init(_ state: BridgeState, _ owner: any LinksOwner) { (self.state, self.owner) = (state, owner) }

    /// Makes a link of a TLS connection, and says Hello.
    /// - Throws: if TLS does not tell what the secret of its ends is made of, or the device is barred; then
    ///   the connection is closed.
    func add(
        _ transport: TLSConnection, _ origin: Link.Origin, helloWithin time: Duration = Link.helloTimeout,
        isFarewell: Bool = false
    ) throws -> Link {
        nextNumber += 1
        let link: Link
        do {
            link = try Link(
                transport, as: state.ownID, number: nextNumber, origin: origin, owner: owner)
        } catch {
            transport.close()
            throw error
        }
        link.isFarewell = isFarewell
        guard !account(of: link).isBarred else {
            transport.close()
            throw Self.barred(account(of: link).device == nil ? "Devices that are not paired" : "it")
        }
        guard makeRoom(for: link) else {
            transport.close()
            throw TLSFailure("too many others wait to be paired")
        }
        all.append(link)
        link.isHeldUp = isHeldUp
        updateAllowance(of: link)
        bridgeLog.debug("Link \(link.number) with \(link.device): TLS is up (\(link.origin)).")
        link.begin(owner.hello(for: link), within: time)
        return link
    }

    /// - Throws: if `device` has been barred, for people.
    func checkBar(_ device: DeviceID) throws {
        if PeerAccount(times: times, device: device).isBarred { throw Self.barred("it") }
    }

    private static func barred(_ who: String) -> TLSFailure {
        TLSFailure(
            "\(who) took up more than \(TimeBudgets.longBudget) of processor time in a minute. Try again in another"
                + " minute; unpair it if that continues")
    }

    /// Ends the oldest links if one more would be too many, be it among strangers who dialled and are not
    /// being paired, or among the links of one peer.
    /// - Returns: whether there is room now.
    private func makeRoom(for link: Link) -> Bool {
        if state.isTrusted(link.device) {
            let others = all.filter { $0.device == link.device && current[link.device] !== $0 }
            for old in others.dropLast(Self.maximumOfPeer - 1) { old.close("a later one took its place") }
        } else if !link.isDialled {
            var strangers = strangers.filter { !owner.isPairingAgreed(over: $0) }
            while strangers.count >= Self.maximumStrangers {
                guard let victim = victim(among: strangers) else { return false }
                victim.close("too many strangers came after it")
                strangers.removeAll { $0 === victim }
            }
        }
        return true
    }

    /// Which of these strangers has to go: first those who have not said Hello, then those who have. Those
    /// who are waiting for the user go first only if there are more of them than are sure of their place.
    private func victim(among strangers: [Link]) -> Link? {
        let held = strangers.filter { owner.isPairing(over: $0) }
        let others = strangers.filter { link in !held.contains { $0 === link } }
        let silent = others.filter { !$0.isEstablished }
        let those =
            held.count > Self.heldStrangers ? held : silent.isEmpty ? others : silent
        return Crowd.victim(among: those.map { NetworkSource.name(of: $0.remoteHost) }).map { those[$0] }
    }

    /// The links of devices that have dialled and are not trusted.
    private var strangers: [Link] { all.filter { !state.isTrusted($0.device) && !$0.isDialled } }

    /// Ends the links of strangers that are no longer welcome, unless they are being paired.
    func dismissStrangers() {
        for link in strangers
        where !link.isFarewell && !owner.isPairing(over: link)
            && !owner.welcomesStranger(from: link.remoteHost)
        {
            link.closeWhenSent("strangers are not welcome any more")
        }
    }

    /// To be called when the trust in the device of `link` has changed, or when it begins to be paired.
    func updateAllowance(of link: Link) {
        let isTrusted = state.isTrusted(link.device)
        let initial = link.isFarewell ? Self.farewellAllowance : Self.strangersAllowance
        link.allowance = isTrusted ? nil : link.allowance ?? initial
        link.account = account(of: link)
    }

    /// Whether no link is read, because the broker does not read what comes of that.
    var isHeldUp = false {
        didSet { for link in all { link.isHeldUp = isHeldUp } }
    }

    /// Where the processor time that the other side of `link` takes is counted. Strangers share one account,
    /// except those that the user has dialled or is pairing with, and those that were peers.
    private func account(of link: Link) -> PeerAccount {
        let isKnown =
            state.isTrusted(link.device) || link.isDialled || link.isFarewell
            || owner.isPairingAgreed(over: link)
        return PeerAccount(times: times, device: isKnown ? link.device : nil)
    }

    /// Ends all links of a device that has taken too much processor time; nil stands for the strangers.
    private func bar(_ device: DeviceID?) {
        let name = device.map(state.label(of:)) ?? "Devices that are not paired"
        bridgeLog.warning(
            "\(name) took up more than \(TimeBudgets.longBudget) of processor time in a minute: no link with"
                + " it for the next minute. Unpair it if that continues.")
        for link in all where link.account?.device == device {
            link.close("it took up too much processor time")
        }
    }

    /// Every link with `device`, established or not.
    func all(with device: DeviceID) -> [Link] { all.filter { $0.device == device } }

    /// Ends all links in order once everything that was sent has left.
    func closeAllWhenSent(_ why: String) { for link in all { link.closeWhenSent(why) } }

    /// Ends all links, and returns once they have ended: in order where the other side lets that happen before `deadline`, in
    /// microseconds of ``MainLoop/now``. For the end of the program, and before the machine sleeps.
    func finishAll(_ why: String, until deadline: Int64 = MainLoop.now + finishingTime) {
        closeAllWhenSent(why)
        // No link uses up the time that is left for the others.
        let those = all
        for (index, link) in those.enumerated() {
            let now = MainLoop.now
            link.awaitSent(until: now + max(0, deadline - now) / Int64(those.count - index))
        }
        for link in all { link.close(why) }
        Farewell.awaitAll(until: deadline)
    }

    /// Ends the links that cannot live on now that the machine has these addresses, and checks on the others;
    /// on all of them if the addresses are not known.
    func check(_ addresses: Set<[UInt8]>?) { for link in all { link.check(addresses) } }

    /// Says Hello again on every link where it has changed.
    func sayHello() { for link in all { link.say(owner.hello(for: link)) } }

    /// Makes an established link the current one with its device, unless another one is to stay.
    /// - Returns: whether it is the current one now.
    func choose(_ link: Link) -> Bool {
        guard let old = current[link.device], old !== link, !old.isClosed else {
            current[link.device] = link
            return true
        }
        let choice = LinkChoice(ours: state.ownID, theirs: link.device)
        // Of two links that cross, the one over which a code is being compared stays: both sides know about
        // that.
        guard let new = candidate(link), let former = candidate(old), choice.replaces(new, former),
            !(choice.areSimultaneous(new, former) && owner.isPairingAnswered(over: old))
        else {
            link.close("there is another link with this device")
            // Whoever has a carrier connect reaches nobody directly, so the other end of that may have gone.
            if link.isCarried, !old.isCarried { old.probe() }
            return false
        }
        current[link.device] = link
        // What a farther link has in hand goes on.
        old.awaitsStreams = link.way < old.way && owner.hasStreams(over: old)
        if !old.awaitsStreams { old.close("a newer one took its place") }
        return true
    }

    private func candidate(_ link: Link) -> LinkChoice.Candidate? {
        link.establishedAt.map {
            LinkChoice.Candidate(
                isDialled: link.isDialled, establishedAt: $0, isCarried: link.isCarried)
        }
    }

    /// Forgets a link that has ended.
    /// - Returns: whether it was the current one with its device.
    func remove(_ link: Link) -> Bool {
        all.removeAll { $0 === link }
        guard current[link.device] === link else { return false }
        current[link.device] = nil
        return true
    }
}
