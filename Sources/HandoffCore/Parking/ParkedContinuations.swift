// SPDX-License-Identifier: LGPL-2.1-or-later

/// What was continued here of what peers had left here before they slept, until they know.
///
/// Meanwhile that state of the activity is not shown, since its user has it already.
package struct ParkedContinuations: Sendable {
    /// One of them.
    package struct Entry: Hashable, Sendable {
        /// Whose activity it is.
        package let device: DeviceID
        /// The activity.
        package let activity: ActivityID
        /// The act of continuing it.
        package let continuation: ContinuationID
        /// Which state of the activity was continued.
        package let revision: UInt64

        /// One of them.
        package init(
            device: DeviceID, activity: ActivityID, continuation: ContinuationID, revision: UInt64
        ) {
            (self.device, self.activity) = (device, activity)
            (self.continuation, self.revision) = (continuation, revision)
        }
    }

    private struct Kept: Sendable {
        let entry: Entry
        let until: Instant
    }

    /// How many are kept of a peer; the oldest goes first. All that it leaves may be continued by one choice.
    package static let maximumOfPeer = 1 + Quota.openLeft

    /// The oldest first.
    private var kept: [Kept] = []

    /// None.
    package init() {}

    /// The application here has taken it over.
    package mutating func add(_ entry: Entry, at now: Instant) {
        forgetOld(now)
        let mine = kept.filter { $0.entry.device == entry.device }
        if mine.count >= Self.maximumOfPeer, let oldest = mine.first {
            kept.removeAll { $0.entry == oldest.entry }
        }
        kept.append(Kept(entry: entry, until: now.advanced(by: Deadline.continuedParked)))
    }

    /// What `device` is to be told, the oldest first.
    package mutating func untold(by device: DeviceID, at now: Instant) -> [Entry] {
        forgetOld(now)
        return kept.map(\.entry).filter { $0.device == device }
    }

    /// The peer knows it, or never will.
    package mutating func settled(_ entry: Entry) { kept.removeAll { $0.entry == entry } }

    /// The device is no longer a peer.
    package mutating func forget(_ device: DeviceID) { kept.removeAll { $0.entry.device == device } }

    /// Whether this state of the activity, or a later one, was continued already.
    package func contains(_ offer: Offer, of device: DeviceID) -> Bool {
        kept.contains {
            $0.entry.device == device && $0.entry.activity == offer.id && offer.revision <= $0.entry.revision
        }
    }

    /// Nobody waits for this, so it is done when something else happens.
    private mutating func forgetOld(_ now: Instant) { kept.removeAll { $0.until <= now } }
}
