// SPDX-License-Identifier: LGPL-2.1-or-later

/// What `handoff status` has found out.
struct StatusReport: Equatable {
    /// What there is of a daemon.
    enum Daemon<Content: Equatable>: Equatable {
        /// It answers.
        case running(Content)
        /// It owns its name but does not answer as it should; the reason.
        case silent(String)
        /// It does not run; whether the bus knows how to start it.
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
        /// What other devices offer that nothing here continues.
        var hidden: [HiddenOffer] = []
        /// What other devices have fetched of late, the latest first.
        var fetches: [RecentFetch] = []
        /// How often each of them did, and what it fetched last.
        var fetchesByDevice: [DeviceFetches] = []
    }

    /// What the bridge says.
    struct Bridge: Equatable {
        let version: Int
        let deviceID: String
        let deviceName: String
        let deviceType: String
        /// 0 if it does not listen.
        let port: Int
        let isDiscoverable: Bool
        /// Why devices are not found by themselves; empty if they are, or are not to be.
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
