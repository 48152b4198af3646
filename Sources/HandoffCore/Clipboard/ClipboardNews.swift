// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is known of what was copied where, and what becomes of it: whoever copied last counts, on whichever device.
package struct ClipboardNews: Sendable {
    /// What is to be done with what a peer says.
    package enum Action: Hashable, Sendable {
        /// The clipboard is taken over, for `age` less than ``lifetime``; or given up, if there are no `kinds`.
        case follow(DeviceID, kinds: [ClipboardKind], age: Duration)
        /// The user is asked whether to copy what was sent.
        case ask(DeviceID, kinds: [ClipboardKind])
    }

    /// What a peer says of its clipboard.
    package struct Announcement: Hashable, Sendable {
        /// What it can be had as, the best first.
        package let kinds: [ClipboardKind]
        /// How long ago it was copied.
        package let age: Duration
        /// Whether it was sent to this device.
        package let isSent: Bool

        /// What was copied `age` ago.
        package init(kinds: [ClipboardKind], age: Duration, isSent: Bool) {
            (self.kinds, self.age, self.isSent) = (kinds, age, isSent)
        }
    }

    /// How long what was copied on one device can be pasted on another.
    package static let lifetime = Duration.seconds(120)
    /// How often a peer may say that something was copied, and how often it may fetch.
    private static let announcements = EventRate(limit: 10, period: .seconds(10))
    private static let fetches = EventRate(limit: 8, period: .seconds(10))

    /// What the user wants.
    package var mode: ClipboardMode
    /// What can be had here, and when it was copied.
    package private(set) var own: (kinds: [ClipboardKind], time: Instant)?
    /// Whose clipboard is taken over, and when that was copied.
    package private(set) var followed: (device: DeviceID, time: Instant)?
    private var muted: Set<DeviceID> = []
    private var announced: [DeviceID: EventRate] = [:]
    private var fetched: [DeviceID: EventRate] = [:]
    private var fetching: Set<DeviceID> = []

    /// Nothing was copied anywhere.
    package init(_ mode: ClipboardMode) { self.mode = mode }

    /// Whether nothing goes to `device`, and nothing that it says counts.
    package func isMuted(_ device: DeviceID) -> Bool { muted.contains(device) }

    /// What `device` sends is shown, or is not.
    package mutating func setMuted(_ isMuted: Bool, _ device: DeviceID) {
        if isMuted { muted.insert(device) } else { muted.remove(device) }
    }

    // MARK: What happens here

    /// Somebody here has copied something, of which these kinds may go to peers.
    package mutating func changed(_ kinds: [ClipboardKind], at now: Instant) {
        own = (kinds, now)
        followed = nil
    }

    /// What is to be told to peers that follow: what was copied here and when; nil if there is nothing to tell.
    package func news(at now: Instant) -> (kinds: [ClipboardKind], age: Duration)? {
        guard mode == .follow, let own else { return nil }
        let age = own.time.duration(to: now)
        return age < Self.lifetime ? (own.kinds, age) : nil
    }

    /// Nobody reaches the clipboard here any more.
    package mutating func lost() { (own, followed) = (nil, nil) }

    // MARK: What peers do

    /// `device` says this.
    /// - Returns: what is to be done, nil for nothing.
    /// - Throws: `disabled`, or `limitsExceeded` if it says too much.
    package mutating func announced(
        _ news: Announcement, by device: DeviceID, at now: Instant
    ) throws(HandoffFailure) -> Action? {
        guard mode != .off else { throw .clipboardOffThere }
        guard announced[device, default: Self.announcements].count(at: now) else {
            throw HandoffFailure(
                .limitsExceeded,
                "This device has told ten times within ten seconds that something was copied. Tell the latest only."
            )
        }
        guard !muted.contains(device) else { return nil }
        if news.isSent { return news.kinds.isEmpty ? nil : .ask(device, kinds: news.kinds) }
        let age = max(.zero, news.age)
        guard mode == .follow, age < Self.lifetime else { return nil }
        let time = now.advanced(by: .zero - age)
        if news.kinds.isEmpty {
            guard followed?.device == device else { return nil }
            followed = nil
            return .follow(device, kinds: [], age: age)
        }
        // What was copied later counts.
        if let own, own.time > time { return nil }
        if let followed, followed.device != device, followed.time > time { return nil }
        followed = (device, time)
        return .follow(device, kinds: news.kinds, age: age)
    }

    /// `device` fetches what is in the clipboard here, until ``ended(_:)``.
    /// - Throws: `disabled`, `accessDenied` if it is muted, `limitsExceeded` if it asks too often.
    package mutating func begin(_ device: DeviceID, at now: Instant) throws(HandoffFailure) {
        guard mode != .off else { throw .clipboardOffThere }
        guard !muted.contains(device) else {
            throw HandoffFailure(
                .accessDenied,
                "This device is muted there, and gets nothing of the clipboard. Unmute it there first.")
        }
        guard !fetching.contains(device), fetched[device, default: Self.fetches].count(at: now) else {
            throw HandoffFailure(
                .limitsExceeded,
                "This device asks for the clipboard too often. Wait a few seconds, then try again.")
        }
        fetching.insert(device)
    }

    /// It fetches no longer.
    package mutating func ended(_ device: DeviceID) { fetching.remove(device) }

    /// `device` is no peer any more.
    /// - Returns: what is to be done, nil for nothing.
    package mutating func removed(_ device: DeviceID) -> Action? {
        muted.remove(device)
        (announced[device], fetched[device]) = (nil, nil)
        guard followed?.device == device else { return nil }
        followed = nil
        return .follow(device, kinds: [], age: .zero)
    }
}

extension HandoffFailure {
    /// The clipboard is switched off at the device that is asked.
    package static let clipboardOffThere = HandoffFailure(
        .disabled,
        "The clipboard is switched off on the other device. Choose “ask” or “follow” for it in Handoff's preferences there."
    )

    /// The clipboard is switched off here.
    package static let clipboardOff = HandoffFailure(
        .disabled,
        "The clipboard is switched off here. Choose “ask” or “follow” for it in Handoff's preferences.")

    /// Nothing reaches the clipboard of the desktop here.
    package static let noClipboard = HandoffFailure(
        .notSupported,
        "Nothing here reaches the clipboard of the desktop: handoff-agent does not run in this session, or the desktop has no"
            + " way for that. `handoff paste --stdout` needs none.")

    /// Nothing reaches the clipboard of the desktop that is asked.
    package static let noClipboardThere = HandoffFailure(
        .notSupported,
        "Nothing on the other device reaches the clipboard of its desktop: handoff-agent does not run there, or that desktop"
            + " has no way for it.")

    /// There is nothing to be had.
    package static let clipboardEmpty = HandoffFailure(
        .offerWithdrawn,
        "There is nothing in the clipboard that may go to other devices: text, HTML or an image, which is no secret and was"
            + " copied there. Copy it once more.")
}
