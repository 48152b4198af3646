// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is shown of devices that are being paired, wherever that was begun: that one asks, and then the code that both show.
/// A device that this one has asked is not shown as one that asks.
/// Nothing is shown while the session is locked, and putting it away changes nothing.
package struct PairingNotices: Sendable {
    /// A device, as far as pairing goes.
    package struct Device: Equatable, Sendable {
        /// 64 hexadecimal digits.
        package let id: String
        /// What it calls itself.
        package let name: String
        /// How far pairing has come.
        package let stage: Pairing.Stage
        /// Whether it has asked and the user of this device has yet to agree.
        package let isAsking: Bool
        /// What both devices show while it is compared.
        package let code: String

        /// A device.
        package init(
            id: String, name: String, stage: Pairing.Stage, isAsking: Bool = false, code: String = ""
        ) {
            self.id = id
            self.name = name
            self.stage = stage
            self.isAsking = isAsking
            self.code = code
        }
    }

    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// Say that this device asks, in place of what is shown of it.
        case ask(Device)
        /// Show the code of this device, in place of what is shown of it.
        case compare(Device)
        /// Take back what is shown of the device with this id.
        case withdraw(String)
    }

    /// How long a device may ask without anything being shown: an answer that comes by itself is faster.
    package static let patience = Duration.milliseconds(300)
    /// Of how many devices something is shown at a time.
    package static let maximum = 8
    /// How many devices may be shown as asking within ``pace``. What is more waits, and of what waits the latest is first:
    /// whoever asks ever again under other names does not fill the screen.
    package static let maximumAsks = 3
    /// The time that ``maximumAsks`` is for.
    package static let pace = Duration.seconds(10)

    private struct Entry {
        var device: Device
        let since: Instant
        var isShown = false
        var isClosed = false

        /// When it is to be shown.
        var time: Instant {
            device.stage == .waiting ? since.advanced(by: PairingNotices.patience) : since
        }
    }

    private var entries: [String: Entry] = [:]
    private var asks = EventRate(limit: maximumAsks, period: pace)
    /// When the next device may be shown as asking; nil if at once.
    private var askableAt: Instant?
    private var isLocked = true

    /// No device is being paired.
    package init() {}

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    package var nextTime: Instant? {
        isLocked ? nil : entries.values.filter { !$0.isShown && !$0.isClosed }.map(time(of:)).min()
    }

    /// These are the devices now.
    package mutating func update(_ devices: [Device], at now: Instant) -> [Action] {
        let current = Dictionary(
            devices.filter(Self.isWorthShowing).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var actions: [Action] = []
        for (id, entry) in entries.sorted(by: { $0.key < $1.key }) where current[id] == nil {
            entries[id] = nil
            if entry.isShown { actions.append(.withdraw(id)) }
        }
        for (id, device) in current.sorted(by: { $0.key < $1.key }) {
            if let entry = entries[id], Self.isSame(entry.device, device) { continue }
            guard entries[id] != nil || entries.count < Self.maximum else { continue }
            // What is shown of the former stage stays until it is replaced.
            entries[id] = Entry(device: device, since: now)
        }
        return actions + advance(to: now)
    }

    /// Others could see from now on what is shown.
    package mutating func locked() -> [Action] {
        isLocked = true
        let shown = entries.keys.sorted().filter { entries[$0]?.isShown == true }
        for id in shown { entries[id]?.isShown = false }
        return shown.map { .withdraw($0) }
    }

    /// Only the user sees from now on what is shown.
    package mutating func unlocked(at now: Instant) -> [Action] {
        isLocked = false
        return advance(to: now)
    }

    /// The user has answered what was shown of the device with this id, or put it away.
    package mutating func closed(_ id: String) {
        entries[id]?.isShown = false
        entries[id]?.isClosed = true
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        guard !isLocked else { return [] }
        askableAt = nil
        var actions: [Action] = []
        for (id, entry) in entries.sorted(by: { Self.comes($0, before: $1) })
        where !entry.isShown && !entry.isClosed && entry.time <= now {
            if entry.device.stage == .waiting, !asks.count(at: now) {
                askableAt = asks.nextAllowed(at: now)
                continue
            }
            entries[id]?.isShown = true
            actions.append(entry.device.stage == .waiting ? .ask(entry.device) : .compare(entry.device))
        }
        return actions
    }

    /// Codes come first; of those that ask the latest.
    private static func comes(_ one: (key: String, value: Entry), before other: (key: String, value: Entry))
        -> Bool
    {
        let (isAsking, isOtherAsking) = (
            one.value.device.stage == .waiting, other.value.device.stage == .waiting
        )
        if isAsking != isOtherAsking { return !isAsking }
        return isAsking && one.value.since != other.value.since
            ? one.value.since > other.value.since : one.key < other.key
    }

    private func time(of entry: Entry) -> Instant {
        guard entry.device.stage == .waiting, let askableAt else { return entry.time }
        return max(entry.time, askableAt)
    }

    private static func isWorthShowing(_ device: Device) -> Bool {
        device.stage == .waiting && device.isAsking || device.stage == .comparing && !device.code.isEmpty
    }

    /// A name that its device changes again and again is no reason to show anything again.
    private static func isSame(_ one: Device, _ other: Device) -> Bool {
        one.stage == other.stage && one.code == other.code && one.name.isEmpty == other.name.isEmpty
    }
}
