// SPDX-License-Identifier: LGPL-2.1-or-later

/// Where the user reaches their other devices by ssh(1), for the sessions that go on there: what ssh is called with, by device.
package struct SessionHosts: Equatable, Sendable {
    /// The hosts by the devices.
    package private(set) var hosts: [DeviceID: String] = [:]

    /// None.
    package init() {}

    /// These, as text.
    /// - Throws: `invalidArguments` if one cannot be, `limitsExceeded` if there are too many.
    package init(_ texts: [String: String]) throws(HandoffFailure) {
        for (device, host) in texts.sorted(by: { $0.key < $1.key }) { try add(device, host) }
    }

    /// Adds a host.
    /// - Throws: the same.
    package mutating func add(_ device: String, _ host: String) throws(HandoffFailure) {
        let id = try DeviceID(checking: device)
        guard Self.isHost(host) else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.message(host))” cannot be what ssh is called with. Name a host, or USER@HOST: each has letters,"
                    + " digits and the characters . _ - and :, and begins with a letter or a digit; both together have at"
                    + " most \(maximumHost) characters. All else belongs into ssh_config(5).")
        }
        guard hosts.count < Quota.peers || hosts[id] != nil else {
            throw HandoffFailure.tooMany(
                "hosts of devices", limit: Quota.peers,
                advice: "Take out those of devices that are not paired any more.")
        }
        hosts[id] = host
    }

    /// Them as text.
    package var texts: [String: String] {
        Dictionary(uniqueKeysWithValues: hosts.map { ($0.key.description, $0.value) })
    }

    /// Whether ssh takes `text` for a host and for nothing else.
    package static func isHost(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return text.utf8.count <= maximumHost && parts.count <= 2
            && parts.allSatisfy { part in
                part.utf8.first.map(isAlphanumeric) == true
                    && part.utf8.allSatisfy { isAlphanumeric($0) || "._-:".utf8.contains($0) }
            }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

private let maximumHost = 255
