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

    /// By the ids of the devices, or what stands for a telephone.
    private var standings: [String: Standing] = [:]
    /// The telephones among them. They may be listed no longer by the time that something comes of it.
    private var phones: [String: KnownPhone] = [:]

    /// None yet.
    package init() {}

    /// Something is sent to `device`, which stands for `phone`, if that is not nil.
    package mutating func begin(_ device: String, _ phone: KnownPhone? = nil) {
        if let phone { phones[device] = phone }
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
                message.isEmpty ? tr("It has failed, and no reason is known.") : message)
        } else {
            (standings[device], phones[device]) = (nil, nil)
        }
    }

    /// What `device` has not got is of no interest any more.
    package mutating func forget(_ device: String) {
        if case .failed = standings[device] { (standings[device], phones[device]) = (nil, nil) }
    }

    /// Forgets what devices have not got that are not paired any more.
    package mutating func keep(only peers: [KnownDevice]) {
        let ids = Set(peers.map(\.id)).union(phones.keys)
        standings = standings.filter { id, standing in
            if case .failed = standing { ids.contains(id) } else { true }
        }
    }

    /// What there is to show of it, in the order of `peers`.
    package func rows(_ peers: [KnownDevice], at now: Int64) -> [SendRow] {
        let phones = phones.values.map { ($0.target, $0.label.shown) }.sorted { $0.1 < $1.1 }
        let known = (peers.map { ($0.id, $0.label.shown) } + phones).filter { standings[$0.0] != nil }
        let gone = standings.keys.filter { id in !known.contains { $0.0 == id } }.sorted()
        return
            (known + gone.map { ($0, String($0.prefix(ShortIDs.minimum))) })
            .map { id, name in
                guard case .failed(let reason)? = standings[id] else {
                    return SendRow(id: id, deviceID: id, device: name, standing: .running)
                }
                return SendRow(id: id, deviceID: id, device: name, standing: .failed(reason.shown))
            }
            + peers.flatMap { peer in peer.waiting.map { SendRow($0, for: peer, at: now) } }
    }
}

/// Something that is on its way to another device, or has not arrived there, or waits for it.
package struct SendRow: Equatable, Sendable, Identifiable {
    /// How far it is.
    package enum Standing: Equatable, Sendable {
        case running
        /// It has not arrived, for this reason.
        case failed(String)
        /// It waits: what it is, since when and why.
        case waiting(title: String, detail: String)
    }

    /// What distinguishes it from others: the id of what waits, or of the device.
    package let id: String
    /// The id of the device.
    package let deviceID: String
    /// What the device calls itself.
    package let device: String
    package let standing: Standing

    init(id: String, deviceID: String, device: String, standing: Standing) {
        (self.id, self.deviceID, self.device, self.standing) = (id, deviceID, device, standing)
    }

    init(_ item: WaitingSend, for peer: KnownDevice, at now: Int64) {
        let detail =
            item.failure?.summary
            ?? (item.arrived == 0
                ? tr(
                    "Sent {age}. It arrives when the device is back, within a week.",
                    ["age": Ages.ago(item.since, at: now)])
                : tr(
                    "It has arrived {age}, and was not continued yet.",
                    ["age": Ages.ago(item.arrived, at: now)]))
        self.init(
            id: item.id, deviceID: peer.id, device: peer.label.shown,
            standing: .waiting(title: item.label.shown, detail: detail))
    }
}
