// SPDX-License-Identifier: LGPL-2.1-or-later
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

    var canLeave: Bool {
        settings.parks && (ownOffer != nil || broker.hasLeft) && peers.values.contains { $0.link != nil }
    }

    func leftChanged() { sleep.update() }

    func leave() async {
        let deadline = MainLoop.now + Self.leavingTime
        if canLeave { await leaveWhatIsOpen() }
        guard state.isOn else { return }
        // From now on nobody is dialled or let in: a link that came up again would say that the offer is alive.
        state.handoff = .unknown
        entrance.close()
        dials.stopAll()
        discovery.update()
        links.finishAll("the machine is about to sleep", until: deadline)
    }

    /// What is offered goes first, since the network may be cut at any moment.
    private func leaveWhatIsOpen() async {
        let heirs = peers.values.filter { $0.link != nil }
            .sorted { $0.link?.establishedAt ?? 0 > $1.link?.establishedAt ?? 0 }
            .prefix(Self.maximumHeirs)
        func leave(
            _ what: [PeerManagerParkReply]
        ) -> [(label: String, left: Task<Int, Never>)] {
            heirs.map { peer in
                (peer.label, MainLoop.start { await peer.leave(what, within: Self.answerTime) })
            }
        }
        let others = MainLoop.start { [broker] in try await broker.parkAside(within: Self.askingTime) }
        var answers: [(label: String, left: Task<Int, Never>)] = []
        do {
            answers = leave([try await broker.park(within: Self.askingTime)])
        } catch {
            bridgeLog.debug("\(HandoffFailure(routed: error))")
        }
        do {
            answers += leave(try await others.value)
        } catch {
            bridgeLog.debug("\(HandoffFailure(routed: error))")
        }
        var counts: [String: Int] = [:]
        for (label, left) in answers { counts[label, default: 0] += await left.value }
        for (label, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
            bridgeLog.message("What is open here was left with \(label): \(count).")
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

    func sleepChanged(of device: DeviceID) { devices.update(device) }

    func makeRoomForParked() {
        let all = peers.values.compactMap { peer in peer.parkedSince.map { (peer, $0) } }
            .sorted { $0.1 < $1.1 }
        for (peer, _) in all.dropLast(Self.maximumParked) { peer.dropParked() }
    }
}
