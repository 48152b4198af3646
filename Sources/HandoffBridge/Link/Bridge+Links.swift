// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

extension Bridge: LinksOwner {
    func isPairing(over link: Link) -> Bool { pairings.isUnderWay(over: link) }
    func isPairingAgreed(over link: Link) -> Bool { pairings.isAgreed(over: link) }
    func isPairingAnswered(over link: Link) -> Bool { pairings.isAnswered(over: link) }
    func hasStreams(over link: Link) -> Bool { streams.has(over: link) }

    func pairingServer(for link: Link) -> any PairingServer { PairingObject(pairings, link) }
    func peerServer(for link: Link) -> any PeerServer { IncomingPeerObject(self, link) }

    func openStream(
        _ content: Stream.Content, _ id: ContinuationID, token: [UInt8], over link: Link, _ call: MethodCall
    ) async throws -> Stream.Agreement {
        try await streams.serve(content, id, token: token, over: link, call)
    }

    func linkSaidHello(_ link: Link) {
        // This is called after the Hello was answered, and the link may have ended in between.
        guard !link.isClosed, !link.awaitsStreams else { return }
        let device = link.device
        endTrustIfPeerDid(link)
        let isNew = links.current[device] !== link
        guard links.choose(link) else { return }
        if !link.isDialled, !link.isCarried,
            !LinkChoice(ours: state.ownID, theirs: device).prefersDialled
        {
            // A link that this device dials now would lose to this one.
            dials.abandon(device)
        }
        remember(link)
        agreeOnSecret(link)
        let wasUsable = peers[device]?.link === link
        reconcile(device)
        if isNew { logOpened(link) } else if !wasUsable { logIfPaired(link) }
        dismissIfForgotten(link)
    }

    /// Ends a link that was let in only to tell its device that it is no longer a peer.
    private func dismissIfForgotten(_ link: Link) {
        guard link.isFarewell, state.trust[link.device] == nil, !welcomesStranger(from: link.remoteHost),
            !pairings.isAgreed(over: link)
        else { return }
        link.closeWhenSent("it is no longer a peer")
    }

    /// Both ends of a paired link adopt its secret, unless they already share one
    /// (protocol.md, "Peer secret").
    private func agreeOnSecret(_ link: Link) {
        guard link.isPaired, let said = link.said?.secret, let heard = link.received?.secret else { return }
        if said.isEmpty || said != heard {
            state.trust.note(link.device) { $0.agree(on: link.secret, named: heard, at: MainLoop.wallClock) }
            link.say(hello(for: link))
        }
    }

    /// A device that no longer trusts this one is not trusted here either.
    private func endTrustIfPeerDid(_ link: Link) {
        guard let entry = state.trust[link.device], entry.endsWithPeersTrust, !link.awaitsTrust,
            link.received?.isPaired == false
        else { return }
        bridgeLog.message("\(state.label(of: link.device)) has ended the pairing.")
        forget(link.device, isByUser: false)
    }

    /// Keeps what an established link tells about its device.
    func remember(_ link: Link) {
        state.trust.note(link.device) { entry in
            if link.isPaired { entry.linked() }
            if let said = link.received {
                if link.isPaired { entry.named(said.secret) }
                if !said.name.isEmpty { entry.name = said.name }
                if !said.type.isEmpty { entry.type = said.type }
                if link.isPaired, let places = said.places {
                    entry.remember(places: places, at: MainLoop.wallClock)
                }
            }
            // A device that announces where it is will do so again, and may be somewhere else by then.
            if case .dialled(let address) = link.origin, link.isAddressRemembered,
                !discovery.announces(address)
            {
                entry.remember(address)
            }
        }
        whereabouts.remember(link)
    }

    func linkEnded(_ link: Link, _ reason: DBusError) {
        let wasCurrent = links.remove(link)
        let label = state.label(of: link.device)
        if wasCurrent {
            bridgeLog(
                state.trust[link.device] == nil ? .info : .message,
                "The link with \(label) has ended: \(reason.message)")
        } else if link.establishedAt != nil {
            bridgeLog.debug("Link \(link.number) with \(label) has ended: \(reason.message)")
        } else {
            state.refusals.note("A link with \(label) did not come about: \(reason.message)")
        }
        if wasCurrent, link.received?.isPaired == true, let places = link.received?.places {
            // The time for which they are kept counts from the end of the link.
            state.trust.note(link.device) { $0.remember(places: places, at: MainLoop.wallClock) }
        }
        peers[link.device]?.linkEnded(link)
        pairings.linkEnded(link)
        streams.linkEnded(link)
        introductions.linkEnded(link.device, link.number)
        dials.linkEnded(link.device, since: link.establishedAt)
        reconcile(link.device)
    }

    func linkUnpaired(_ link: Link) {
        if state.trust[link.device] != nil {
            bridgeLog.message("\(state.label(of: link.device)) has ended the pairing.")
            state.noteEndedPairing(link.device, name: devices.state(of: link.device)?.name ?? "")
            propertiesChanged("EndedPairings")
            forget(link.device, isByUser: false)
        }
        link.closeWhenSent("the pairing has ended")
    }

    private func logOpened(_ link: Link) {
        let place =
            switch link.origin {
            case .dialled(let address): "to \(address)"
            case .carried, .accepted: "\(link.origin)"
            }
        let level: Log.Level = state.trust[link.device] == nil ? .info : .message
        let trust = link.isPaired ? "paired" : "not paired"
        bridgeLog(
            level, "A link \(place) with \(state.label(of: link.device)) is up (\(trust)).",
            ["HANDOFF_DEVICE": link.device.description])
    }

    private func logIfPaired(_ link: Link) {
        guard peers[link.device]?.link === link else { return }
        bridgeLog.message("The link with \(state.label(of: link.device)) is paired now.")
    }

    // MARK: Trust

    /// Trusts `device` from now on, or changes its name.
    func trust(_ device: DeviceID, name: String) throws {
        guard device != state.ownID else {
            throw HandoffFailure(
                .invalidArguments, "\(device) is this device itself. Give the id of the other one.")
        }
        var entry = state.trust[device] ?? TrustEntry(device, source: .trust)
        if !name.isEmpty { entry.name = name }
        entry.awaitsLink = true
        try state.trust.put(entry)
        let called = name.isEmpty ? "" : ", called \(ChosenText(name: name).quoted)"
        bridgeLog.message("\(device) is trusted from now on\(called).")
        trustBegan(device)
    }

    /// Trust in `device` has begun: its links are told, and used if it trusts this device too.
    func trustBegan(_ device: DeviceID) {
        if state.forgetEndedPairing(device) { propertiesChanged("EndedPairings") }
        for link in links.all(with: device) {
            links.updateAllowance(of: link)
            link.say(hello(for: link))
        }
        let usable = peers[device]?.link
        if let link = links.current[device] { remember(link) }
        reconcile(device)
        if let link = links.current[device], link !== usable { logIfPaired(link) }
        dials.dialNow(device)
    }

    /// Ends the trust in `device`, and tells it so.
    func unpair(_ device: DeviceID) throws {
        guard state.trust[device] != nil else { throw Peer.notPaired(state.label(of: device)) }
        bridgeLog.message("The pairing with \(state.label(of: device)) is ended here.")
        for link in links.all(with: device) where link.isPaired {
            link.forgetTrust()
            MainLoop.start {
                // It does not matter whether this arrives: the next Hello tells the device again.
                try? await LinkProxy(link.remote).unpair(timeout: .seconds(2))
                link.close("the pairing has ended")
            }
        }
        forget(device, isByUser: true)
    }

    /// Takes `device` out of the trust store, with all that follows.
    private func forget(_ device: DeviceID, isByUser: Bool) {
        state.trust.remove(device, isByUser: isByUser)
        for link in links.all(with: device) {
            link.say(hello(for: link))
            links.updateAllowance(of: link)
        }
        reconcile(device)
    }
}
