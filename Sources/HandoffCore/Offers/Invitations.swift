// SPDX-License-Identifier: LGPL-2.1-or-later

/// Which offers are shown as sent to this device by the user of the peer, and from when on.
///
/// A peer has one invitation at a time, and a new one is shown no sooner than ``Deadline/invitation`` after the one
/// before it. Of those that come sooner the latest waits until then. What is shown as sent already and is sent once more is
/// a new invitation, at the same pace, which its time tells from the former. What a muted peer sends is not shown. Whether an
/// invitation is to what the peer offers is for the caller to know.
package struct Invitations: Sendable {
    /// What is remembered of a peer that has sent something.
    private struct Standing {
        /// What is shown as sent.
        var shown: ActivityID?
        /// When that was sent.
        var time: Int64 = 0
        /// What is to be shown as sent as soon as that is allowed.
        var waiting: ActivityID?
        /// When that was sent.
        var waitingTime: Int64 = 0
        /// When the next invitation may be shown.
        var next: Instant
    }

    private var standings: [DeviceID: Standing] = [:]
    private var muted: Set<DeviceID> = []
    /// When that was sent which will be told of next.
    private var announced: [DeviceID: Int64] = [:]

    /// Nothing was sent, and nobody is muted.
    package init() {}

    /// Whether `id` is shown as sent by `device`.
    package func isShown(_ id: ActivityID, of device: DeviceID) -> Bool { standings[device]?.shown == id }

    /// When what is shown of `id` as sent by `device` was sent, in microseconds since the Unix epoch; 0 if it is not shown.
    package func time(of id: ActivityID, by device: DeviceID) -> Int64 {
        isShown(id, of: device) ? standings[device]?.time ?? 0 : 0
    }

    /// The next invitation of `device` came to this machine at `time`, in microseconds since the Unix epoch, whether or not
    /// it was told of before.
    package mutating func willInvite(from time: Int64, by device: DeviceID) {
        if time > 0 { announced[device] = time }
    }

    /// `device` sends `id`, now or once more.
    /// - Returns: whether that is shown from now on.
    package mutating func invite(_ id: ActivityID, by device: DeviceID, at now: Moment) -> Bool {
        let time = takeTime(by: device, at: now)
        guard !muted.contains(device) else { return false }
        if let next = standings[device]?.next, next > now.instant {
            standings[device]?.waiting = id
            standings[device]?.waitingTime = time
            return false
        }
        standings[device] = Standing(
            shown: id, time: time, next: now.instant.advanced(by: Deadline.invitation))
        return true
    }

    /// The user has dealt with `id`, which `device` has sent, or it is not to be shown for another reason.
    package mutating func end(_ id: ActivityID, of device: DeviceID) {
        if standings[device]?.shown == id { standings[device]?.shown = nil }
        if standings[device]?.waiting == id { standings[device]?.waiting = nil }
    }

    /// `device` offers `id`, or nothing: an invitation to anything else is over.
    package mutating func offered(_ id: ActivityID?, by device: DeviceID) {
        if standings[device]?.shown != id { standings[device]?.shown = nil }
        if standings[device]?.waiting != id { standings[device]?.waiting = nil }
    }

    /// When what `device` sends now was sent: as was told before, or now.
    package mutating func takeTime(by device: DeviceID, at now: Moment) -> Int64 {
        announced.removeValue(forKey: device) ?? max(1, now.wall)
    }

    /// Whether what `device` sends is not shown.
    package func isMuted(_ device: DeviceID) -> Bool { muted.contains(device) }

    /// From now on what `device` sends is shown, or not.
    package mutating func setMuted(_ isMuted: Bool, _ device: DeviceID) {
        guard isMuted else {
            muted.remove(device)
            return
        }
        muted.insert(device)
        offered(nil, by: device)
    }

    /// The device is no longer a peer.
    package mutating func forget(_ device: DeviceID) {
        standings[device] = nil
        announced[device] = nil
        muted.remove(device)
    }

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    package var nextDeadline: Instant? {
        standings.values.lazy.filter { $0.waiting != nil }.map(\.next).min()
    }

    /// Time has passed.
    /// - Returns: what is shown as sent from now on.
    package mutating func advance(to now: Instant) -> [DeviceID: ActivityID] {
        var due: [DeviceID: ActivityID] = [:]
        for (device, standing) in standings where standing.next <= now {
            guard let id = standing.waiting else { continue }
            standings[device] = Standing(
                shown: id, time: standing.waitingTime, next: now.advanced(by: Deadline.invitation))
            due[device] = id
        }
        return due
    }
}
