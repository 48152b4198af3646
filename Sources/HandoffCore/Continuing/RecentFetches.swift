// SPDX-License-Identifier: LGPL-2.1-or-later

/// What peers have taken from this session, for the user to see: the last ten fetches, streams and
/// documents, and for each device the last one and how many there were, so that other devices cannot push those out.
package struct RecentFetches: Sendable {
    /// What a peer took.
    package enum Kind: String, Hashable, Sendable {
        /// It fetched the activity.
        case activity
        /// It opened a stream to the activity's application.
        case stream
        /// It opened the activity's document.
        case document
        /// It fetched what was in the clipboard.
        case clipboard
    }

    /// One fetch, or one stream or document that was opened.
    package struct Fetch: Hashable, Sendable {
        /// What was taken.
        package let kind: Kind
        /// What it was for.
        package let continuation: ContinuationID
        /// When, in microseconds since the Unix epoch.
        package let time: Int64
        /// The peer that fetched.
        package let device: DeviceID
        /// What the peer was called then.
        package let deviceName: String
        /// The activity's type.
        package let type: ActivityType
        /// The activity's application.
        package let applicationID: ApplicationID
        /// The activity's title as it was then.
        package let title: String

        /// A fetch.
        package init(
            _ kind: Kind = .activity, continuation: ContinuationID, time: Int64, device: DeviceID,
            deviceName: String, type: ActivityType, applicationID: ApplicationID, title: String
        ) {
            self.kind = kind
            self.continuation = continuation
            self.time = time
            self.device = device
            self.deviceName = deviceName
            self.type = type
            self.applicationID = applicationID
            self.title = title
        }
    }

    /// What one device has taken since the beginning.
    package struct Tally: Hashable, Sendable {
        /// What it took last.
        package internal(set) var last: Fetch
        /// For how many continuations it has fetched.
        package internal(set) var fetches: UInt64 = 0
        /// How many streams it has opened.
        package internal(set) var streams: UInt64 = 0
        /// How many documents it has opened.
        package internal(set) var documents: UInt64 = 0
        /// How often it has fetched what was in the clipboard.
        package internal(set) var clipboards: UInt64 = 0
    }

    /// The type by which what was in a clipboard is listed among activities.
    package static let clipboardType = "org.example.Handoff.clipboard"
    /// How many fetches are remembered.
    package static let maximum = 10
    /// How many devices are remembered: as many as there may be peers.
    package static let maximumDevices = Quota.peers

    /// The fetches, the latest first.
    package private(set) var fetches: [Fetch] = []
    /// What each device has taken; the device that took something most recently comes first.
    package private(set) var devices: [Tally] = []
    /// The continuations that have been counted, the latest last: when a device fetches again for one of
    /// these, that is not counted as another fetch. As many are kept as a device may have at a time.
    private var counted: [DeviceID: [ContinuationID]] = [:]

    /// None yet.
    package init() {}

    /// Remembers `fetch`, and forgets the oldest if there are too many. A repeated fetch for one continuation
    /// takes the place of the former one; every stream and every document is a separate entry.
    package mutating func add(_ fetch: Fetch) {
        count(fetch)
        if fetch.kind == .activity {
            fetches.removeAll {
                $0.kind == .activity && $0.continuation == fetch.continuation && $0.device == fetch.device
            }
        }
        if fetches.count >= Self.maximum { fetches.removeLast(fetches.count - Self.maximum + 1) }
        fetches.insert(fetch, at: 0)
    }

    private mutating func count(_ fetch: Fetch) {
        let index = devices.firstIndex { $0.last.device == fetch.device }
        var tally = index.map { devices.remove(at: $0) } ?? Tally(last: fetch)
        tally.last = fetch
        switch fetch.kind {
        case .activity: if isFirst(fetch) { tally.fetches += 1 }
        case .stream: tally.streams += 1
        case .document: tally.documents += 1
        case .clipboard: tally.clipboards += 1
        }
        if devices.count >= Self.maximumDevices {
            counted[devices.removeLast().last.device] = nil
        }
        devices.insert(tally, at: 0)
    }

    /// Whether nothing was fetched for this continuation before.
    private mutating func isFirst(_ fetch: Fetch) -> Bool {
        var known = counted[fetch.device, default: []]
        guard !known.contains(fetch.continuation) else { return false }
        known.append(fetch.continuation)
        if known.count > Quota.continuationsOfPeer { known.removeFirst() }
        counted[fetch.device] = known
        return true
    }
}
