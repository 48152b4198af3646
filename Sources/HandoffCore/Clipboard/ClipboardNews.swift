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
        /// How long ago it was copied, at least zero and at most ``lifetime``.
        package let age: Duration
        /// If it was sent to this device, the id under which it is fetched.
        package let sent: ContinuationID?
        /// What decides between two that were copied at nearly the same time: the larger one counts.
        package let lot: UInt64

        /// What was copied `age` ago, or was sent.
        package init(
            kinds: [ClipboardKind], age: Duration = .zero, sent: ContinuationID? = nil, lot: UInt64 = 0
        ) {
            (self.kinds, self.sent, self.lot) = (kinds, sent, lot)
            self.age = max(.zero, min(age, ClipboardNews.lifetime))
        }
    }

    /// How long what was copied on one device can be pasted on another.
    package static let lifetime = Duration.seconds(120)
    /// Within this time two devices may copy something, and not know of each other's.
    private static let tie = Duration.milliseconds(500)
    /// How often a peer may say that something was copied, which it does once a second, and how often it may fetch.
    private static let announcements = EventRate(limit: 20, period: .seconds(10))
    private static let fetches = EventRate(limit: 20, period: .seconds(10))
    /// How often it may send something, which the user is asked about.
    private static let sendings = EventRate(limit: 10, period: .seconds(30))

    /// What the user wants.
    package private(set) var mode: ClipboardMode
    /// What was copied here last and may go to peers, and when; nil if something else is in the clipboard by now.
    package private(set) var own: (kinds: [ClipboardKind], time: Instant, lot: UInt64)?
    /// When something was put into the clipboard here last.
    private var latest: Instant?
    /// Whose clipboard is taken over.
    package private(set) var followed: DeviceID?
    /// What peers have sent here.
    private var sentHere: [DeviceID: (id: ContinuationID, end: Instant)] = [:]
    private var muted: Set<DeviceID> = []
    private var announced: [DeviceID: EventRate] = [:]
    private var fetched: [DeviceID: EventRate] = [:]
    private var sentOften: [DeviceID: EventRate] = [:]
    private var fetching: Set<DeviceID> = []

    /// Nothing was copied anywhere.
    package init(_ mode: ClipboardMode) { self.mode = mode }

    /// The user wants that from now on.
    /// - Returns: what is to be done, nil for nothing.
    package mutating func choose(_ mode: ClipboardMode) -> Action? {
        self.mode = mode
        if mode == .off { sentHere = [:] }
        guard mode != .follow else { return nil }
        own = nil
        return giveUp { _ in true }
    }

    /// Whether nothing goes to `device`, and nothing that it says counts.
    package func isMuted(_ device: DeviceID) -> Bool { muted.contains(device) }

    /// What `device` sends is shown, or is not.
    /// - Returns: what is to be done, nil for nothing.
    package mutating func setMuted(_ isMuted: Bool, _ device: DeviceID) -> Action? {
        guard isMuted else {
            muted.remove(device)
            return nil
        }
        muted.insert(device)
        sentHere[device] = nil
        return giveUp { $0 == device }
    }

    // MARK: What happens here

    /// Somebody here has copied something, of which these kinds may go to peers. `lot` is a random number.
    package mutating func changed(_ kinds: [ClipboardKind], at now: Instant, lot: UInt64 = 0) {
        var unique: [ClipboardKind] = []
        for kind in kinds where !unique.contains(kind) { unique.append(kind) }
        (own, latest, followed) = ((unique, now, lot), now, nil)
    }

    /// Something of a peer was put into the clipboard, because the user wanted that.
    package mutating func pasted(at now: Instant) { (own, latest, followed) = (nil, now, nil) }

    /// What is to be told to peers that follow: what was copied here and how long ago; nil if there is nothing to tell.
    package func news(at now: Instant) -> Announcement? {
        guard mode == .follow, let own else { return nil }
        let age = own.time.duration(to: now)
        return age < Self.lifetime ? Announcement(kinds: own.kinds, age: age, lot: own.lot) : nil
    }

    /// Somebody else reaches the clipboard here, or nobody: what is in it is not known.
    package mutating func forget() { (own, latest, followed) = (nil, nil, nil) }

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
                "This device has told too often that something was copied. Tell the latest only, once a second."
            )
        }
        guard !muted.contains(device) else { return nil }
        if let id = news.sent {
            guard !news.kinds.isEmpty else { return nil }
            guard sentOften[device, default: Self.sendings].count(at: now) else {
                throw HandoffFailure(
                    .limitsExceeded,
                    "This device has sent ten times within half a minute. Wait a moment, then send it once more."
                )
            }
            sentHere[device] = (id, now.advanced(by: Deadline.sentClipboard))
            return .ask(device, kinds: news.kinds)
        }
        guard mode == .follow, news.age < Self.lifetime else { return nil }
        if news.kinds.isEmpty { return giveUp { $0 == device } }
        let time = now.advanced(by: .zero - news.age)
        // What was put into the clipboard later counts, here or on another device.
        if let latest, followed != device {
            let isTie =
                own != nil && latest.duration(to: time) < Self.tie && time.duration(to: latest) < Self.tie
            if isTie ? (own?.lot ?? 0) >= news.lot : latest > time { return nil }
        }
        (own, latest, followed) = (nil, time, device)
        return .follow(device, kinds: news.kinds, age: news.age)
    }

    /// The id under which what `device` has sent here can be fetched; nil if there is none.
    package func sent(by device: DeviceID, at now: Instant) -> ContinuationID? {
        sentHere[device].flatMap { $0.end > now ? $0.id : nil }
    }

    /// What `device` has sent was fetched, or cannot be had any more.
    package mutating func sentIsOver(_ device: DeviceID) { sentHere[device] = nil }

    /// `device` fetches what is in the clipboard here, until ``ended(_:)``.
    /// - Throws: `disabled`, `accessDenied` if it is muted, `limitsExceeded` if it asks too often.
    package mutating func begin(_ device: DeviceID, at now: Instant) throws(HandoffFailure) {
        try check(device)
        guard !fetching.contains(device), fetched[device, default: Self.fetches].count(at: now) else {
            throw HandoffFailure(
                .limitsExceeded,
                "This device asks for the clipboard too often. Wait a few seconds, then try again.")
        }
        fetching.insert(device)
    }

    /// Whether anything may go to `device`.
    /// - Throws: `disabled` or `accessDenied` if nothing may.
    package func check(_ device: DeviceID) throws(HandoffFailure) {
        guard mode != .off else { throw .clipboardOffThere }
        guard !muted.contains(device) else {
            throw HandoffFailure(
                .accessDenied,
                "This device is muted there, and gets nothing of the clipboard. Unmute it there first.")
        }
    }

    /// It fetches no longer.
    package mutating func ended(_ device: DeviceID) { fetching.remove(device) }

    /// `device` is no peer any more.
    /// - Returns: what is to be done, nil for nothing.
    package mutating func removed(_ device: DeviceID) -> Action? {
        muted.remove(device)
        (announced[device], fetched[device], sentHere[device]) = (nil, nil, nil)
        sentOften[device] = nil
        return giveUp { $0 == device }
    }

    private mutating func giveUp(_ isMeant: (DeviceID) -> Bool) -> Action? {
        guard let device = followed, isMeant(device) else { return nil }
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
        "There is nothing in the clipboard that may go to other devices: text, HTML, an image or files in a shared"
            + " folder, which is no secret and was copied there. Copy it once more.")
}
