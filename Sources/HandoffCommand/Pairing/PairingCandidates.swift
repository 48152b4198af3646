// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

/// A device that the user could pair with, having named none.
enum PairingCandidate: Equatable {
    /// It asks to be paired.
    case asking(KnownDevice)
    /// It is known because it is connected or paired, and it does not ask.
    case known(KnownDevice)
    /// A peer introduces it, and it does not ask.
    case introduced(KnownDevice)
    /// It lets itself be found.
    case nearby(NearbyDevice)

    /// What distinguishes it from the others, whether it asks or not.
    var key: String {
        switch self {
        case .asking(let device), .known(let device), .introduced(let device): "device \(device.id)"
        case .nearby(let device): "nearby \(device.addresses.joined(separator: " ")) \(device.name)"
        }
    }

    /// Whether it asks.
    var asks: Bool { if case .asking = self { true } else { false } }

    /// Whether it is paired by accepting its introduction.
    var isIntroduced: Bool { if case .introduced = self { true } else { false } }

    /// The line by which the user distinguishes it from the others: who it is, and then what it calls itself.
    var line: String {
        let (what, place, label) =
            switch self {
            case .asking(let device): (tr("asks"), Self.place(device), device.label)
            case .known(let device):
                (device.isPaired ? tr("paired") : tr("connected"), Self.place(device), device.label)
            case .introduced(let device): (tr("introduced"), Self.place(device), device.label)
            case .nearby(let device):
                (tr("nearby"), tr("at {places}", ["places": device.places]), device.label)
            }
        let width =
            [tr("asks"), tr("paired"), tr("connected"), tr("introduced"), tr("nearby")]
            .map(\.displayWidth).max() ?? 0
        return "\(what.padded(to: width))  \(place)  \(label.inQuotes)"
    }

    private static func place(_ device: KnownDevice) -> String {
        let places = device.whereabouts.shown
        let id = String(device.id.prefix(ShortIDs.minimum))
        return places.isEmpty
            ? tr("device {id}", ["id": id]) : tr("device {id} at {places}", ["id": id, "places": places])
    }
}

extension PairingCandidate {
    /// A device that the bridge knows.
    init(_ device: KnownDevice) {
        let asks = !["", "none"].contains(device.pairingState)
        self =
            asks
            ? .asking(device)
            : device.isIntroduced || device.isDeclined ? .introduced(device) : .known(device)
    }
}

/// The devices that are there to be paired with: first those that ask, then those that are connected or
/// introduced, then those nearby.
struct PairingCandidates: Equatable {
    let all: [PairingCandidate]

    /// The candidates among `devices`, which are those that ask, or are connected but not paired, or are
    /// introduced and not declined, and the devices `nearby`.
    init(_ devices: [KnownDevice], _ nearby: [NearbyDevice]) {
        let here = devices.filter {
            PairingCandidate($0).asks || (!$0.isPaired && $0.isConnected) || $0.isIntroduced
        }
        self.init(all: here, nearby)
    }

    /// The candidates that `text` names, among all `devices` and the devices `nearby`.
    init(named text: String, _ devices: [KnownDevice], _ nearby: [NearbyDevice]) {
        self.init(all: devices.named(text), nearby.filter { $0.name == text || $0.label.shown == text })
    }

    /// An announced device counts as the same one as a device of that name which has connected from the same
    /// address.
    private init(all devices: [KnownDevice], _ nearby: [NearbyDevice]) {
        let known = devices.map { PairingCandidate($0) }
        let others = nearby.filter { announced in !devices.contains { announced.isSame(as: $0) } }
        all = known.filter(\.asks) + known.filter { !$0.asks } + others.map { .nearby($0) }
    }

    /// The device to pair with even though the user has not named it: the only one that is there, if it asks. One that
    /// is introduced need not be there.
    var only: KnownDevice? {
        let there = all.filter { !$0.isIntroduced }
        return if there.count == 1, case .asking(let device)? = there.first { device } else { nil }
    }

    /// Whether any device asks.
    var isAsked: Bool { all.contains(where: \.asks) }
}

extension CommandFailure {
    /// No device is called `text`. `undiscovered`: why devices are not found by themselves; nil if they are.
    static func noDevice(_ text: String, _ undiscovered: FailureText?) -> CommandFailure {
        let what = ["device": text.shown]
        guard let undiscovered else {
            return CommandFailure(
                tr(
                    "There is no device “{device}”. Run “handoff pair” there, so that it can be found; or give its"
                        + " address, HOST:PORT.", what), .notFound)
        }
        let lines = [
            tr("The device “{device}” cannot be found by its name.", what),
            tr("Devices are not found automatically: {reason}", ["reason": undiscovered.summary]),
            tr(
                "Run “handoff pair” there, and here “handoff pair HOST:PORT” with that machine's name or address and"
                    + " the port that it says; or install and start avahi-daemon on both."),
        ]
        return CommandFailure(lines.joined(separator: " "), .notFound)
    }
}
