// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

extension StatusReport {
    /// What a firewall does that keeps other devices out. One that perhaps does is mentioned only while something is amiss.
    func firewallProblems(_ bridge: BridgeStatus) -> [Problem] {
        guard let firewall = bridge.firewall else { return [] }
        if !firewall.isCertain, !peers.isEmpty, peers.allSatisfy(\.isConnected) { return [] }
        let program = firewall.program.shown
        let ports = firewall.ports.map(\.shown).joined(separator: ", ")
        let text =
            if !firewall.isCertain {
                tr(
                    "The firewall {program} is switched on. Only the administrator can see whether it lets in {ports}.",
                    ["program": program, "ports": ports])
            } else if firewall.zone.isEmpty {
                tr(
                    "The firewall {program} keeps other devices out: it does not let in {ports}.",
                    ["program": program, "ports": ports])
            } else {
                tr(
                    "The firewall {program} keeps other devices out: in the zone {zone} it does not let in {ports}.",
                    ["program": program, "zone": firewall.zone.shown, "ports": ports])
            }
        let remedy =
            firewall.commands.map {
                tr("Let them in: {commands}", ["commands": $0.joined(separator: " && ")])
            } ?? tr("Let them in, in the settings of the firewall.")
        return [Problem(text: text, remedy: remedy)]
    }
}
