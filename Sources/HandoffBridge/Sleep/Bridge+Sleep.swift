// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

extension Bridge: SleepOwner {
    /// How long the machine waits for all that, in microseconds.
    private static var leavingTime: Int64 { 1_000_000 }
    /// How long of that others have to say that they have what is left with them.
    private static var answerTime: Duration { .milliseconds(700) }
    /// How long the broker has to say what is to be left.
    private static var askingTime: Duration { .milliseconds(200) }
    /// With how many others something is left: those that were linked last.
    private static var maximumHeirs: Int { 8 }
    /// How many others may have left something here.
    private static var maximumParked: Int { 8 }

    var canLeave: Bool { settings.parks && ownOffer != nil && peers.values.contains { $0.link != nil } }

    func leave() async {
        let deadline = MainLoop.now + Self.leavingTime
        if canLeave { await leaveOffer() }
        guard state.isOn else { return }
        // From now on nobody is dialled or let in: a link that came up again would say that the offer is alive.
        state.handoff = .unknown
        entrance.close()
        dials.stopAll()
        discovery.update()
        links.finishAll("the machine is about to sleep", until: deadline)
    }

    private func leaveOffer() async {
        let parked: PeerManagerParkReply
        do {
            parked = try await broker.park(within: Self.askingTime)
        } catch {
            return bridgeLog.debug("\(HandoffFailure(routed: error))")
        }
        let heirs = peers.values.filter { $0.link != nil }
            .sorted { $0.link?.establishedAt ?? 0 > $1.link?.establishedAt ?? 0 }
            .prefix(Self.maximumHeirs)
        let answers = heirs.map { peer in
            (peer, MainLoop.start { await peer.leave(parked, within: Self.answerTime) })
        }
        var names: [String] = []
        for (peer, answer) in answers where await answer.value { names.append(peer.label) }
        if !names.isEmpty {
            bridgeLog.message("Activity \(parked.activity) was left with \(names.joined(separator: ", ")).")
        }
    }

    func resumed() {
        if broker.isEnabled == true, !state.isOn { goByTheSwitch() }
        // The machine may have slept for a long time, and may be anywhere now.
        discoverability.set(false)
        for peer in peers.values { peer.resumed() }
        // For the devices at the other ends, links may have ended long ago.
        links.check(NetworkInterface.ownAddresses())
        discovery.renew()
        dials.dialAllNow()
    }

    func makeRoomForParked() {
        let all = peers.values.compactMap { peer in peer.parkedSince.map { (peer, $0) } }
            .sorted { $0.1 < $1.1 }
        for (peer, _) in all.dropLast(Self.maximumParked) { peer.dropParked() }
    }
}
