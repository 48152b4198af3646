// SPDX-License-Identifier: LGPL-2.1-or-later

/// What peers have fetched of this session, for the user to see: the last ten.
public struct RecentFetches: Sendable {
    /// One fetch.
    public struct Fetch: Hashable, Sendable {
        /// What it was for.
        public let continuation: ContinuationID
        /// When, in microseconds since the Unix epoch.
        public let time: Int64
        /// The peer that fetched.
        public let device: DeviceID
        /// What the peer was called then.
        public let deviceName: String
        /// The activity's type.
        public let type: ActivityType
        /// The activity's application.
        public let applicationID: ApplicationID
        /// The activity's title as it was then.
        public let title: String

        /// A fetch.
        public init(
            continuation: ContinuationID, time: Int64, device: DeviceID, deviceName: String,
            type: ActivityType,
            applicationID: ApplicationID, title: String
        ) {
            self.continuation = continuation
            self.time = time
            self.device = device
            self.deviceName = deviceName
            self.type = type
            self.applicationID = applicationID
            self.title = title
        }
    }

    /// How many are remembered.
    public static let maximum = 10

    /// The fetches, the latest first.
    public private(set) var fetches: [Fetch] = []

    /// None yet.
    public init() {}

    /// Remembers `fetch`, in place of a former one for the same continuation, and forgets the oldest if there are too
    /// many.
    public mutating func add(_ fetch: Fetch) {
        fetches.removeAll { $0.continuation == fetch.continuation && $0.device == fetch.device }
        if fetches.count >= Self.maximum { fetches.removeLast(fetches.count - Self.maximum + 1) }
        fetches.insert(fetch, at: 0)
    }
}
