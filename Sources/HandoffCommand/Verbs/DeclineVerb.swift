// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff decline`: does not follow what peers say of a device: that it is one of the user's, or that it is none any more.
struct DeclineVerb: Verb {
    static let name = "decline"
    static let arguments: String? = "DEVICE"
    static let summary = tr("Decline a device that is introduced, or keep one that another has unpaired")
    static let completion = Completion.declinable

    private let device: String

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(1...1, "decline DEVICE")[0]
    }

    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let one = try await bridge.devices().filter { $0.isPaired || $0.isIntroduced || $0.isDeclined }
            .choose(device)
        let proxy = DeviceProxy(bridge.object(one.path))
        if !one.isPaired {
            try await proxy.declineIntroduction()
            try session.reply(
                tr("“{device}” is declined. You are not asked again.", ["device": one.label.shown]),
                one.json([.init(name: "introductionState", value: .string("declined"))]))
            return 0
        }
        guard one.canBeDeclined else {
            throw CommandFailure(
                tr(
                    "There is nothing to decline: “{device}” is paired here, and no other device has unpaired it."
                        + " “handoff unpair” ends the pairing.", ["device": one.label.shown]))
        }
        try await proxy.keepPairing()
        try session.reply(
            tr("“{device}” stays paired.", ["device": one.label.shown]),
            one.json([.init(name: "retractedBy", value: .strings([]))]))
        return 0
    }
}

extension KnownDevice {
    /// Whether there is something that peers say of it and the user has yet to decide.
    var canBeDeclined: Bool { isIntroduced || !retractedBy.isEmpty }
}
