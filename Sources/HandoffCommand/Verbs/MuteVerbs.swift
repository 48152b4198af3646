// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// `handoff mute`: has what a device sends not shown any more.
struct MuteVerb: Verb {
    static let name = "mute"
    static let arguments: String? = "DEVICE"
    static let summary = "Do not show what a device sends; what it offers stays in the list"

    private let device: String

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(1...1, "mute DEVICE")[0]
    }

    func run(in session: Session) async throws -> Int32 {
        let peer = try await Self.setMuted(true, device, in: session)
        try Output.line("What \(peer.label.quoted) sends is not shown any more.")
        return 0
    }

    /// Mutes the device that `text` names, or no longer.
    @MainLoop
    static func setMuted(
        _ isMuted: Bool, _ text: String, in session: Session
    ) async throws -> KnownDevice {
        let bridge = try await session.bridge()
        let peer = try await bridge.devices().filter(\.isPaired).choose(text)
        try await DeviceProxy(bridge.object(peer.path)).setMuted(isMuted)
        return peer
    }
}

/// `handoff unmute`: has what a device sends shown again.
struct UnmuteVerb: Verb {
    static let name = "unmute"
    static let arguments: String? = "DEVICE"
    static let summary = "Show what a device sends again"

    private let device: String

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(1...1, "unmute DEVICE")[0]
    }

    func run(in session: Session) async throws -> Int32 {
        let peer = try await MuteVerb.setMuted(false, device, in: session)
        try Output.line("What \(peer.label.quoted) sends is shown.")
        return 0
    }
}
