// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffStatus

extension FirewallStatus {
    /// The firewall for programs.
    var json: JSON {
        [
            "program": .string(program), "zone": .string(zone), "ports": .array(ports.map { .string($0) }),
            "certain": .boolean(isCertain), "service": .string(service),
        ]
    }
}
