// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is shown of devices that peers introduce: each device once, and at most one notification in ten minutes for each peer.
/// Nothing is shown while the session is locked; what has come meanwhile is shown afterwards.
package struct IntroductionNotices: Sendable {
    /// A device that is introduced, or that introduces others.
    package struct Device: Equatable, Sendable {
        /// 64 hexadecimal digits.
        package let id: String
        /// What it calls itself, or is called by who introduces it.
        package let name: String

        /// A device.
        package init(id: String, name: String) { (self.id, self.name) = (id, name) }
    }

    /// What one peer introduces.
    package struct Introduction: Equatable, Sendable {
        /// The peer.
        package let introducer: Device
        /// The devices of which the user has yet to say whether to pair with them.
        package let devices: [Device]

        /// `introducer` introduces `devices`.
        package init(introducer: Device, devices: [Device]) {
            (self.introducer, self.devices) = (introducer, devices)
        }
    }

    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// Ask about these devices, in place of what is shown of this peer.
        case show(Introduction)
        /// Take back what is shown of the peer with this id.
        case withdraw(String)
    }

    /// How long is waited for more devices of a peer, which come one by one.
    package static let patience = Duration.seconds(2)
    /// Between two notifications of one peer.
    package static let pace = Duration.seconds(600)
    /// Of how many devices it is remembered that the user was told, beside those that are introduced now.
    package static let maximumTold = 1024

    private var introductions: [Introduction] = []
    /// The ids of the devices that the user was told of. One that comes back, as all do after a new start of the bridge, is not
    /// told of again.
    private var told: Set<String> = []
    /// The ids of the devices that are shown, or will be again when the session is unlocked, by the ids of who introduces them.
    private var shown: [String: Set<String>] = [:]
    /// When the peers with something new may be shown, by their ids.
    private var due: [String: Instant] = [:]
    /// When the peers that were shown may be shown with something new, as far as that still matters.
    private var allowed: [String: Instant] = [:]
    private var isLocked = true

    /// Nobody introduces anything.
    package init() {}

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    package var nextTime: Instant? { isLocked ? nil : due.values.min() }

    /// These peers introduce devices now.
    package mutating func update(_ introductions: [Introduction], at now: Instant) -> [Action] {
        self.introductions = introductions
        var actions: [Action] = []
        for (peer, devices) in shown.sorted(by: { $0.key < $1.key }) {
            // That there are fewer is no news, and a peer could make it some again and again.
            guard introduction(by: peer, of: devices) == nil else { continue }
            shown[peer] = nil
            if !isLocked { actions.append(.withdraw(peer)) }
        }
        allowed = allowed.filter { $1 > now }
        dropDue()
        for introduction in introductions where due[introduction.introducer.id] == nil && hasNew(introduction)
        {
            let peer = introduction.introducer.id
            due[peer] = max(now.advanced(by: Self.patience), allowed[peer] ?? now)
        }
        return actions + advance(to: now)
    }

    /// Others could see from now on what is shown. Unless it `isKnown` what the user has put away, that may be all of it, and
    /// it does not come back.
    package mutating func locked(isKnown: Bool = true) -> [Action] {
        isLocked = true
        let peers = shown.keys.sorted()
        if !isKnown { shown = [:] }
        return peers.map { .withdraw($0) }
    }

    /// Only the user sees from now on what is shown.
    package mutating func unlocked(at now: Instant) -> [Action] {
        isLocked = false
        let former = shown.sorted { $0.key < $1.key }.compactMap { introduction(by: $0.key, of: $0.value) }
        return former.map { .show($0) } + advance(to: now)
    }

    /// The user has answered what was shown of the peer with this id, or put it away.
    package mutating func closed(_ peer: String) { shown[peer] = nil }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        guard !isLocked else { return [] }
        var actions: [Action] = []
        for introduction in introductions {
            let peer = introduction.introducer.id
            guard let time = due[peer], time <= now, hasNew(introduction) else { continue }
            let devices = introduction.devices.map(\.id)
            let all = shown[peer, default: []].union(devices.filter { !told.contains($0) })
            remember(devices)
            shown[peer] = all
            allowed[peer] = now.advanced(by: Self.pace)
            if let shown = self.introduction(by: peer, of: all) { actions.append(.show(shown)) }
        }
        dropDue()
        return actions
    }

    /// The user was told of `devices`.
    private mutating func remember(_ devices: [String]) {
        if told.count >= Self.maximumTold {
            told.formIntersection(introductions.flatMap(\.devices).map(\.id))
        }
        told.formUnion(devices)
    }

    /// A peer is due only for as long as it introduces something new.
    private mutating func dropDue() {
        let new = Set(introductions.filter { hasNew($0) }.map(\.introducer.id))
        due = due.filter { new.contains($0.key) }
    }

    private func hasNew(_ introduction: Introduction) -> Bool {
        introduction.devices.contains { !told.contains($0.id) }
    }

    /// What the peer with this id introduces now of `devices`; nil if nothing.
    private func introduction(by peer: String, of devices: Set<String>) -> Introduction? {
        guard let all = introductions.first(where: { $0.introducer.id == peer }) else { return nil }
        let rest = all.devices.filter { devices.contains($0.id) }
        return rest.isEmpty ? nil : Introduction(introducer: all.introducer, devices: rest)
    }
}
