// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension StatusReport {
    /// Something that is wrong, and how to fix it.
    struct Problem: Equatable {
        let text: String
        let remedy: String

        var json: JSON { ["problem": .string(text), "remedy": .string(remedy)] }
    }

    /// Everything that keeps Handoff from working, the most basic first.
    var problems: [Problem] {
        if let busFailure {
            return [Problem(text: "Without a session bus nothing works.", remedy: busFailure)]
        }
        return brokerProblems + bridgeProblems + peerProblems
    }

    private var brokerProblems: [Problem] {
        switch broker {
        case .running(let broker):
            if broker.isEnabled { return [] }
            return [Problem(text: "Handoff is switched off.", remedy: "Switch it on with “handoff on”.")]
        case .silent(let reason): return [Self.silent("broker", "handoffd", reason)]
        case .absent(let canStart): return [Self.absent("broker", "handoffd", canStart)]
        }
    }

    private var bridgeProblems: [Problem] {
        switch bridge {
        case .running(let bridge):
            // The switch has been reported already.
            if broker.content?.isEnabled == false { return [] }
            if bridge.port != 0 { return Self.noDiscovery(bridge.discoveryError) }
            return [
                Problem(
                    text: "The bridge does not listen, so no device can connect to this one.",
                    remedy: "Look at its log: journalctl --user -u handoff-bridge.service.")
            ]
        case .silent(let reason): return [Self.silent("bridge", "handoff-bridge", reason)]
        // If there is no broker either, the remedy is the same, and has been given already.
        case .absent(let canStart):
            if case .absent = broker { return [] }
            return [Self.absent("bridge", "handoff-bridge", canStart)]
        }
    }

    private static func noDiscovery(_ error: String) -> [Problem] {
        if error.isEmpty { return [] }
        return [
            Problem(
                text: "Devices are not found by themselves: \(error.shown.sentence)",
                remedy: "Install and start avahi-daemon, or give addresses with “handoff connect HOST:PORT”.")
        ]
    }

    private var peerProblems: [Problem] {
        guard let bridge = bridge.content else { return [] }
        if peers.isEmpty {
            return [
                Problem(
                    text: "No device is paired with this one.",
                    remedy:
                        "Run “handoff pair” on the other one, and here “handoff pair NAME” with its name, or “handoff"
                        + " pair HOST:PORT” with its address.")
            ]
        }
        if broker.content?.isEnabled == false || bridge.port == 0 { return [] }
        return peers.filter { !$0.isConnected }.map { peer in
            let address = peer.addresses.first ?? "HOST:PORT"
            return Problem(
                text: "There is no connection to \(peer.label.quoted)."
                    + (peer.connectionError.isEmpty ? "" : " \(peer.connectionError.shown.sentence)"),
                remedy:
                    "Is it on, in the same network, with Handoff switched on, and does it trust this device?"
                    + " “handoff connect \(address.shown)” tries an address.")
        }
    }

    private static func silent(_ what: String, _ program: String, _ reason: String) -> Problem {
        Problem(
            text: "The \(what) runs but does not answer as it should: \(reason.shown.sentence)",
            remedy:
                "Start it anew: systemctl --user restart \(program).service; where that does not work, log out and"
                + " in again.")
    }

    private static func absent(_ what: String, _ program: String, _ canStart: Bool) -> Problem {
        Problem(
            text:
                "The \(what) (\(program)) is not running\(canStart ? "" : ", and the bus cannot start it").",
            remedy: canStart
                ? "Start it: systemctl --user start \(program).service; or use it, for example with “handoff list”."
                : "Install Handoff, and log in again if the bus does not see it.")
    }
}
