// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
package import HandoffStatus
internal import Platform

/// How the user pairs this device with another one. It does nothing itself: what has to be asked for is returned.
package struct PairingFlow: Equatable, Sendable {
    /// How far it is.
    package enum Step: Equatable, Sendable {
        /// The user chooses a device, and other devices can find this one.
        case choosing
        /// A device is being connected to, at one of these addresses.
        case connecting([String])
        /// The other device has been asked.
        case waiting(Other)
        /// Both devices show this code.
        case comparing(Other, code: String)
        /// The user has said that the codes match; the other device's user has not yet.
        case confirmed(Other, code: String)
        /// The devices are paired.
        case paired(Other)
        /// It has failed, for this reason.
        case failed(String)
    }

    /// The other device.
    package struct Other: Equatable, Sendable {
        /// 64 hexadecimal digits.
        package let id: String
        /// What it calls itself; empty while that is not known.
        package let name: String

        /// The device `id`, which calls itself `name`.
        package init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// How far it is.
    package private(set) var step = Step.choosing
    private var devices: [KnownDevice] = []
    /// Whether pairing with the device that was chosen has been seen to begin since.
    private var hasBegun = false
    /// Whether the bridge has answered that it pairs with the device that was chosen.
    private var isAnswered = false
    /// Why pairing with that device had failed before; empty if it had not.
    private var formerError = ""
    /// The code that was shown for the device that was chosen; nil while none was.
    private var shownCode: String?
    /// Whether the user has answered.
    private var hasAnswered = false
    /// How often the bridge was asked to pair and has not answered. It answers in order, so the last answer is to what was
    /// chosen last.
    private var unanswered = 0
    /// Whether the bridge was asked to let devices find this one, and has not answered.
    private var isAsking = true
    /// The devices that the user has given up: these are not chosen without them.
    private var givenUp: Set<String> = []
    /// Whether the user had confirmed what is under way already, elsewhere.
    private var isAdopted = false

    /// Pairing that begins with the devices of `report`, and with what ``beginning`` asks for.
    package init(_ report: StatusReport?) { devices = report?.bridge.content?.devices ?? [] }

    /// The devices that the one that was just paired introduces, as long as the user has not said whether to pair with them.
    package var introduced: [Other] {
        guard case .paired(let introducer) = step else { return [] }
        return devices.filter { $0.isIntroduced && $0.introducedBy.contains(introducer.id) }.map {
            other($0.id)
        }
    }

    /// What has to be asked for when it begins.
    package var beginning: [Request] { [.setDiscoverable(true)] }

    // MARK: What the user does

    /// The user has chosen a device that asks, or is known.
    package mutating func choose(device id: String) -> [Request] {
        guard isChoosing else { return [] }
        (hasBegun, isAnswered, shownCode, hasAnswered, isAdopted) = (false, false, nil, false, false)
        formerError = devices.first { $0.id == id }?.pairingError ?? ""
        step = .waiting(other(id))
        // It may be about to show a code already.
        follow()
        unanswered += 1
        return [.pair(id)]
    }

    /// The user has chosen a device that is nearby, or has given an address.
    package mutating func choose(addresses: [String]) -> [Request] {
        let addresses = addresses.filter { !$0.isEmpty }
        guard isChoosing, !addresses.isEmpty else { return [] }
        step = .connecting(addresses)
        return [.connect(addresses)]
    }

    /// The user has said whether both devices show this code. It counts for no other.
    package mutating func answer(_ code: String, matches: Bool) -> [Request] {
        guard case .comparing(let other, code) = step, !hasAnswered else { return [] }
        hasAnswered = true
        if !matches { givenUp.insert(other.id) }
        step =
            matches
            ? .confirmed(other, code: code)
            : .failed(tr("You said that the digits differ, so the devices are not paired."))
        return [.confirmPairing(other.id, matches: matches)]
    }

    /// The user begins again.
    package mutating func restart() -> [Request] {
        let requests = giveUp()
        step = .choosing
        isAsking = true
        return requests + [.setDiscoverable(true)]
    }

    /// The user has closed the dialog. Pairing that was confirmed elsewhere, for example in a notification, goes on.
    package mutating func end() -> [Request] {
        let requests = isAdopted ? [] : giveUp()
        step = .choosing
        return requests + [.setDiscoverable(false)]
    }

    private var isChoosing: Bool {
        switch step {
        case .choosing, .failed: true
        case .connecting, .waiting, .comparing, .confirmed, .paired: false
        }
    }

    /// What ends an attempt that is under way.
    private mutating func giveUp() -> [Request] {
        switch step {
        case .waiting(let other), .comparing(let other, _), .confirmed(let other, _):
            givenUp.insert(other.id)
            return [.cancelPairing(other.id)]
        case .choosing, .connecting, .paired, .failed: return []
        }
    }

    // MARK: What happens

    /// Something that was asked for is over.
    package mutating func finish(_ request: Request, _ outcome: Outcome) -> [Request] {
        if case .pair = request { unanswered = max(0, unanswered - 1) }
        switch (request, outcome, step) {
        // The answer may be to what was given up before, and be about another device.
        case (.connect(let asked), .device(let id), .connecting(let addresses)) where asked == addresses:
            step = .choosing
            return choose(device: id)
        case (.connect(let asked), .failed(_, let message), .connecting(let addresses))
        where asked == addresses:
            step = .failed(message)
        case (.pair, _, _) where unanswered > 0: break
        case (.pair(let id), .failed(_, let message), .waiting(let other)) where other.id == id:
            step = .failed(message)
        case (.pair(let id), _, .waiting(let other)) where other.id == id:
            // What has become of it meanwhile may have been told in one with its beginning, and nothing else may come.
            isAnswered = true
            follow()
        case (.confirmPairing(let id, _), .failed(_, let message), .confirmed(let other, _))
        where other.id == id:
            step = .failed(message)
        case (.setDiscoverable(true), _, _): isAsking = false
        default: break
        }
        return []
    }

    /// The daemons say something else.
    /// - Parameter isTyping: whether the user gives an address, and so has another device in mind.
    package mutating func take(_ report: StatusReport, isTyping: Bool = false) -> [Request] {
        guard let bridge = report.bridge.content else {
            devices = []
            switch step {
            case .connecting, .waiting, .comparing, .confirmed: fail(tr("The bridge has ended. Try again."))
            // What is over already stays as it was.
            case .choosing, .paired, .failed: break
            }
            return []
        }
        devices = bridge.devices
        follow()
        guard step == .choosing else { return [] }
        // Whoever opens the dialog on both devices and chooses on one of them has said what there is to say. Beside others a
        // stranger is not picked.
        let asking = devices.filter(AskingRow.asks)
        if asking.count == 1, !givenUp.contains(asking[0].id), !isTyping, NearbyRow.all(bridge).isEmpty {
            defer { isAdopted = asking[0].pairingState == "confirmed" }
            return choose(device: asking[0].id)
        }
        // The bridge ends it by itself after a while, and a new bridge knows nothing of it.
        guard !bridge.isDiscoverable, !isAsking else { return [] }
        isAsking = true
        return [.setDiscoverable(true)]
    }

    private mutating func follow() {
        let id: String
        switch step {
        case .waiting(let other), .comparing(let other, _), .confirmed(let other, _): id = other.id
        case .choosing, .connecting, .paired, .failed: return
        }
        guard let device = devices.first(where: { $0.id == id }) else {
            // One that was just connected to may not have been told of yet.
            if hasBegun { fail(tr("The other device is gone. Try again.")) }
            return
        }
        let other = other(id)
        switch device.pairingState {
        case "waiting":
            hasBegun = true
            step = .waiting(other)
        case "comparing":
            hasBegun = true
            guard shownCode ?? device.pairingCode == device.pairingCode else {
                fail(tr("The digits have changed, because pairing has begun anew. Try again."))
                return
            }
            shownCode = device.pairingCode
            step =
                hasAnswered
                ? .confirmed(other, code: device.pairingCode) : .comparing(other, code: device.pairingCode)
        case "confirmed":
            hasBegun = true
            step = .confirmed(other, code: device.pairingCode)
        default:
            // The answer comes before the first word of what it has begun.
            let isOver = isAnswered && !device.pairingError.isEmpty && device.pairingError != formerError
            guard hasBegun || isOver else { return }
            if let failure = device.pairingFailure {
                fail(failure.line)
            } else if device.isPaired {
                step = .paired(other)
            } else {
                fail(tr("The other device has given up."))
            }
        }
    }

    private mutating func fail(_ reason: String) { step = .failed(reason) }

    private func other(_ id: String) -> Other {
        Other(id: id, name: devices.first { $0.id == id }?.label.shown ?? "")
    }
}
