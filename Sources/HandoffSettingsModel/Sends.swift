// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
package import HandoffStatus
internal import Platform

/// What this window has sent to other devices: what is on its way, and what they have not got.
package struct Sends: Equatable, Sendable {
    private enum Standing: Equatable {
        /// So much is on its way: what is sent meanwhile follows.
        case running(Int)
        case failed(String)
    }

    /// By the ids of the devices.
    private var standings: [String: Standing] = [:]

    /// None yet.
    package init() {}

    /// Something is sent to `device`.
    package mutating func begin(_ device: String) {
        if case .running(let number) = standings[device] {
            standings[device] = .running(number + 1)
        } else {
            standings[device] = .running(1)
        }
    }

    /// What was sent to `device` the longest ago has arrived there, or has not. Of several, what comes of the last one counts.
    package mutating func finish(_ device: String, _ outcome: Outcome) {
        guard case .running(let number) = standings[device] else { return }
        if number > 1 {
            standings[device] = .running(number - 1)
        } else if case .failed(_, let message) = outcome {
            standings[device] = .failed(
                message.isEmpty ? tr("It has failed, and nobody says why.") : message)
        } else {
            standings[device] = nil
        }
    }

    /// What `device` has not got is of no interest any more.
    package mutating func forget(_ device: String) {
        if case .failed = standings[device] { standings[device] = nil }
    }

    /// Forgets what devices have not got that are not paired any more.
    package mutating func keep(only peers: [KnownDevice]) {
        let ids = Set(peers.map(\.id))
        standings = standings.filter { id, standing in
            if case .failed = standing { ids.contains(id) } else { true }
        }
    }

    /// What there is to show of it, in the order of `peers`.
    func rows(_ peers: [KnownDevice]) -> [SendRow] {
        let known = peers.filter { standings[$0.id] != nil }
        let gone = standings.keys.filter { id in !known.contains { $0.id == id } }.sorted()
        return
            (known.map { ($0.id, $0.label.shown) } + gone.map { ($0, String($0.prefix(ShortIDs.minimum))) })
            .map { id, name in
                guard case .failed(let reason)? = standings[id] else {
                    return SendRow(id: id, device: name, reason: nil)
                }
                return SendRow(id: id, device: name, reason: reason.shown)
            }
    }
}

/// Something that is on its way to another device, or has not arrived there.
package struct SendRow: Equatable, Sendable, Identifiable {
    /// The id of the device.
    package let id: String
    /// What the device calls itself.
    package let device: String
    /// Why it has not arrived; nil while it is on its way.
    package let reason: String?
}
