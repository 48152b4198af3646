// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

extension StatusReport {
    /// Everything that keeps Handoff from working, the most basic first.
    package var problems: [Problem] {
        if let busFailure {
            return [Problem(text: tr("Without a session bus nothing works."), remedy: busFailure)]
        }
        return brokerProblems + bridgeProblems + peerProblems
    }

    private var brokerProblems: [Problem] {
        switch broker {
        case .running(let broker):
            if broker.isEnabled { return [] }
            return [
                Problem(
                    text: tr("Handoff is switched off."), remedy: tr("Switch it on with “handoff on”."),
                    mend: .switchOn)
            ]
        case .silent(let reason): return [Self.silent(.broker, reason)]
        case .absent(let canStart): return [Self.absent(.broker, canStart)]
        }
    }

    private var bridgeProblems: [Problem] {
        switch bridge {
        case .running(let bridge):
            // The switch has been reported already.
            if broker.content?.isEnabled == false { return [] }
            if bridge.port != 0 { return Self.noDiscovery(bridge) + firewallProblems(bridge) }
            return [
                Problem(
                    text: tr("The bridge does not listen, so no device can connect to this one."),
                    remedy: tr("Look at its log: journalctl --user -u handoff-bridge.service."))
            ]
        case .silent(let reason): return [Self.silent(.bridge, reason)]
        // If there is no broker either, the remedy is the same, and has been given already.
        case .absent(let canStart):
            if case .absent = broker { return [] }
            return [Self.absent(.bridge, canStart)]
        }
    }

    private static func noDiscovery(_ bridge: BridgeStatus) -> [Problem] {
        if bridge.discoveryError.isEmpty { return [] }
        func text(_ reason: String) -> String {
            tr("Devices are not found automatically: {reason}", ["reason": reason])
        }
        let failure = FailureText.discovery(bridge.discoveryErrorName, bridge.discoveryError)
        return [
            Problem(
                text: text(failure.summary), words: text(bridge.discoveryError.shown.sentence),
                remedy: tr(
                    "Install and start avahi-daemon, or give addresses with “handoff connect HOST:PORT”."),
                mend: .connect)
        ]
    }

    private var peerProblems: [Problem] {
        guard let bridge = bridge.content else { return [] }
        if peers.isEmpty {
            return [
                Problem(
                    text: tr("No device is paired with this one."),
                    remedy: tr(
                        "Run “handoff pair” on the other one, and here “handoff pair NAME” with its name, or “handoff"
                            + " pair HOST:PORT” with its address."),
                    mend: .pair)
            ]
        }
        if broker.content?.isEnabled == false || bridge.port == 0 { return [] }
        // That a device sleeps stands beside what it has left here.
        let apart = peers.filter { !$0.canList }
        let retracted = peers.flatMap { peer in
            peer.retractors(among: peers).map { Self.retracted(peer, $0) }
        }
        return apart.map { $0.awaitsAcceptance ? Self.unaccepted($0) : Self.unlinked($0) } + retracted
    }

    private static func unlinked(_ peer: KnownDevice) -> Problem {
        let address = peer.addresses.first ?? "HOST:PORT"
        let text = tr("There is no connection to “{device}”.", ["device": peer.label.shown])
        return Problem(
            text: text + (peer.connectionFailure.map { " " + $0.summary } ?? ""),
            words: text + (peer.connectionError.isEmpty ? "" : " \(peer.connectionError.shown.sentence)"),
            remedy: tr(
                "Is it on, in the same network, with Handoff switched on, and does it trust this device?"
                    + " “handoff connect {address}” tries an address.", ["address": address.shown]),
            mend: .connect, deviceID: peer.id)
    }

    /// `peer` was introduced, and its own user has yet to accept this device.
    private static func unaccepted(_ peer: KnownDevice) -> Problem {
        Problem(
            text: tr("“{device}” is accepted here, but not there yet.", ["device": peer.label.shown]),
            remedy: tr(
                "Accept this device there, too, in the window or with “handoff pair NAME”. If that has been"
                    + " done: is it on, with Handoff switched on?"),
            deviceID: peer.id)
    }

    /// The user of `other` has unpaired `peer`.
    private static func retracted(_ peer: KnownDevice, _ other: KnownDevice) -> Problem {
        Problem(
            text: tr(
                "“{peer}” no longer counts “{device}” among your devices.",
                ["peer": other.label.shown, "device": peer.label.shown]),
            remedy: tr("“handoff unpair NAME” unpairs it here, too; “handoff decline NAME” keeps it."),
            deviceID: peer.id)
    }

    private static func silent(_ daemon: DaemonName, _ reason: FailureText) -> Problem {
        func text(_ reason: String) -> String {
            daemon == .broker
                ? tr("The broker runs but does not answer as it should: {reason}", ["reason": reason])
                : tr("The bridge runs but does not answer as it should: {reason}", ["reason": reason])
        }
        return Problem(
            text: text(reason.summary),
            words: text(reason.detail.isEmpty ? reason.summary : reason.detail.shown.sentence),
            remedy: tr(
                "Restart it: systemctl --user restart {program}.service; where that does not work, log out "
                    + "and in again.", ["program": daemon.rawValue]))
    }

    private static func absent(_ daemon: DaemonName, _ canStart: Bool) -> Problem {
        if !canStart {
            return Problem(
                text: daemon == .broker
                    ? tr("The broker (handoffd) is not running, and the bus cannot start it.")
                    : tr("The bridge (handoff-bridge) is not running, and the bus cannot start it."),
                remedy: tr("Install Handoff, and log in again if the bus does not see it."))
        }
        return Problem(
            text: daemon == .broker
                ? tr("The broker (handoffd) is not running.")
                : tr("The bridge (handoff-bridge) is not running."),
            remedy: tr(
                "Start it: systemctl --user start {program}.service; or use it, for example with “handoff list”.",
                ["program": daemon.rawValue]),
            mend: daemon == .broker ? .startBroker : .startBridge)
    }

    /// The daemons, by their programs.
    private enum DaemonName: String {
        case broker = "handoffd"
        case bridge = "handoff-bridge"
    }
}
