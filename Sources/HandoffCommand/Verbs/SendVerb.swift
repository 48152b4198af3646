// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffStatus
internal import Platform

/// `handoff send`: sends what is current here to another device, which shows it.
struct SendVerb: Verb {
    static let name = "send"
    static let arguments: String? = "[DEVICE]"
    static let summary = "Send what is current here to a device, which shows it to its user"
    static let completion = Completion.connectedPeers

    private let device: String?

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(0...1, "send [DEVICE]").first
    }

    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        // From here on, the bridge tells this connection of changes.
        let peers = try await bridge.devices().filter(\.isPaired)
        let peer =
            try device.map { text throws(CommandFailure) in try peers.choose(text) } ?? peers.onlyConnected()
        let failure: (name: String, message: String)?
        do {
            failure = try await SendCall(bridge, peer.path).failure()
        } catch SendCall.Failure.bridgeEnded {
            throw CommandFailure(
                "The bridge has ended. What was sent may have arrived; send it again if it has not.",
                .notRunning)
        }
        if let failure {
            // The words may be those of the device.
            throw CommandFailure(
                "\(peer.label.quoted) has not got it: \(ChosenText(message: failure.message).quoted)",
                errorName: failure.name)
        }
        try session.reply("What is current here was sent to \(peer.label.quoted).", peer.json())
        return 0
    }
}

extension [KnownDevice] {
    /// The one peer that is connected, for who has not named one.
    func onlyConnected() throws(CommandFailure) -> KnownDevice {
        let connected = filter { $0.isPaired && $0.isConnected }
        guard let device = connected.first else {
            throw CommandFailure("No paired device is connected. See “handoff status”.", .notFound)
        }
        guard connected.count == 1 else {
            let list = connected.table(at: 0).lines.joined(separator: "\n")
            throw .ambiguous("\(connected.count) devices are connected. Name one of them:\n\(list)")
        }
        return device
    }
}
