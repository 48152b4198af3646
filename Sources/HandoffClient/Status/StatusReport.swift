// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient

/// What `handoff status` has found out.
struct StatusReport: Equatable {
    /// The state of a daemon.
    enum Daemon<Content: Equatable>: Equatable {
        /// It answers.
        case running(Content)
        /// It owns its name but does not answer as it should, for this reason.
        case silent(String)
        /// It is not running. `canStart` says whether the bus knows how to start it.
        case absent(canStart: Bool)

        /// What it says, if it answers.
        var content: Content? {
            if case .running(let content) = self { content } else { nil }
        }
    }

    /// What the broker says.
    struct Broker: Equatable {
        let version: Int
        let isEnabled: Bool
        let current: LocalActivity?
        let offers: [RemoteOffer]
        /// The offers of other devices that nothing here can continue.
        var hidden: [HiddenOffer] = []
        /// What other devices have fetched recently, the latest first.
        var fetches: [RecentFetch] = []
        /// How often each device has fetched something, and what it fetched last.
        var fetchesByDevice: [DeviceFetches] = []
    }

    /// What the bridge says.
    struct Bridge: Equatable {
        let version: Int
        let deviceID: String
        let deviceName: String
        let deviceType: String
        /// The port that it listens on; 0 if it does not listen.
        let port: Int
        let isDiscoverable: Bool
        /// Why devices are not found automatically; empty if they are found, or are not supposed to be.
        var discoveryError = ""
        var nearby: [NearbyDevice] = []
        let devices: [KnownDevice]
    }

    /// Why there is no session bus, nil if there is one.
    var busFailure: String?
    var broker: Daemon<Broker> = .absent(canStart: false)
    var bridge: Daemon<Bridge> = .absent(canStart: false)

    /// Whether both daemons answer.
    var isWorking: Bool { broker.content != nil && bridge.content != nil }

    /// The paired devices.
    var peers: [KnownDevice] { bridge.content?.devices.filter(\.isPaired) ?? [] }
}
