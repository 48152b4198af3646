// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces

/// The contents that peers can have for a while: what the user has sent to each, and what is too large for an answer.
struct HeldClipboards {
    private struct Held {
        let id: ContinuationID
        let content: ClipboardContent
        let end: Instant
    }

    private var sent: [DeviceID: Held] = [:]
    private var opening: [DeviceID: Held] = [:]

    /// How many bytes all of them may have together.
    private static let maximum = 2 * ClipboardFile.maximum
    /// How long what is too large for an answer waits to be opened.
    private static let openingTime = Duration.seconds(30)

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    var nextTime: Instant? { (Array(sent.values) + opening.values).map(\.end).min() }

    /// The user sends `content` to `device`, in the place of what was sent to it before.
    /// - Returns: the id under which the device fetches it.
    /// - Throws: `LimitsExceeded` if too much is held.
    mutating func send(
        _ content: ClipboardContent, to device: DeviceID, at now: Instant
    ) throws(HandoffFailure) -> ContinuationID {
        let held = try held(content, for: Deadline.sentClipboard, instead: sent[device], at: now)
        sent[device] = held
        return held.id
    }

    /// `device` is to open `content`, which is too large for an answer.
    /// - Returns: the id by which it does.
    /// - Throws: `LimitsExceeded` if too much is held.
    mutating func offer(
        _ content: ClipboardContent, to device: DeviceID, at now: Instant
    ) throws(HandoffFailure) -> ContinuationID {
        let held = try held(content, for: Self.openingTime, instead: opening[device], at: now)
        opening[device] = held
        return held.id
    }

    private mutating func held(
        _ content: ClipboardContent, for time: Duration, instead former: Held?, at now: Instant
    ) throws(HandoffFailure) -> Held {
        advance(to: now)
        let all = (Array(sent.values) + opening.values).reduce(0) { $0 + $1.content.file.size }
        guard all - (former?.content.file.size ?? 0) + content.file.size <= Self.maximum else {
            throw HandoffFailure(
                .limitsExceeded,
                "Too much of the clipboard waits already for devices to fetch it. Wait until they have, or for some minutes."
            )
        }
        var generator = SystemRandomNumberGenerator()
        return Held(
            id: ContinuationID(using: &generator), content: content, end: now.advanced(by: time))
    }

    /// What was sent to `device` under this id; nil if it cannot be had any more.
    func sent(_ id: ContinuationID, to device: DeviceID, at now: Instant) -> ClipboardContent? {
        sent[device].flatMap { $0.id == id && $0.end > now ? $0.content : nil }
    }

    /// What `device` opens by this id; nil if that is none of ours, or too old.
    func offered(_ id: ContinuationID, to device: DeviceID, at now: Instant) -> ClipboardContent? {
        opening[device].flatMap { $0.id == id && $0.end > now ? $0.content : nil }
    }

    /// `device` has got what is held for it under this id, or is not to get it.
    mutating func end(_ id: ContinuationID, of device: DeviceID) {
        if sent[device]?.id == id { sent[device] = nil }
        if opening[device]?.id == id { opening[device] = nil }
    }

    /// Nothing is held for `device` any more.
    mutating func end(_ device: DeviceID) { (sent[device], opening[device]) = (nil, nil) }

    /// Time has passed.
    mutating func advance(to now: Instant) {
        sent = sent.filter { $1.end > now }
        opening = opening.filter { $1.end > now }
    }
}
