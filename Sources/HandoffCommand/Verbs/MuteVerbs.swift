// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// A verb that says whether what a device sends is shown.
protocol MutingVerb: Verb {
    /// Whether it is not shown any more.
    static var isMuted: Bool { get }
    /// What it is afterwards, for the line that tells.
    static func outcome(_ device: String) -> String

    /// Takes over which device is meant.
    init(device: String)
    /// The device, as the user names it.
    var device: String { get }
}

extension MutingVerb {
    static var arguments: String? { "DEVICE" }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        self.init(device: try values.arguments(1...1, "\(Self.name) DEVICE")[0])
    }

    @MainLoop
    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let peer = try await bridge.devices().filter(\.isPaired).choose(device)
        try await DeviceProxy(bridge.object(peer.path)).setMuted(Self.isMuted)
        try session.reply(
            Self.outcome(peer.label.shown),
            peer.json([.init(name: "muted", value: .boolean(Self.isMuted))]))
        return 0
    }
}

/// `handoff mute`: has what a device sends not shown any more.
struct MuteVerb: MutingVerb {
    static let name = "mute"
    static let summary = tr("Do not show what a device sends; what it offers stays in the list")
    static let isMuted = true
    static let completion = Completion.unmutedPeers
    static func outcome(_ device: String) -> String {
        tr("What “{device}” sends is not shown any more.", ["device": device])
    }

    let device: String
}

/// `handoff unmute`: has what a device sends shown again.
struct UnmuteVerb: MutingVerb {
    static let name = "unmute"
    static let summary = tr("Show what a device sends again")
    static let isMuted = false
    static let completion = Completion.mutedPeers
    static func outcome(_ device: String) -> String {
        tr("What “{device}” sends is shown.", ["device": device])
    }

    let device: String
}
