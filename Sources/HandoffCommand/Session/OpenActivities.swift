// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// What is open at a device, as it has said on being asked.
struct OpenActivities {
    /// The device.
    let device: KnownDevice
    /// What is open there, the latest used first; also what nothing here continues.
    let offers: [RemoteOffer]

    /// The command that lists the same.
    static let command = "handoff list --open"

    /// Asks the device that `name` names, or without a name the one that is connected; `broker` describes what is open there.
    /// - Throws: a failure that names the devices if it is not clear which one is meant, or the device if it does not say.
    @MainLoop
    static func ask(_ name: String?, _ broker: Daemon, in session: Session) async throws -> OpenActivities {
        let bridge = try await session.bridge()
        let peers = try await bridge.devices().filter(\.isPaired)
        let device =
            try name.map { text throws(CommandFailure) in try peers.choose(text) } ?? peers.onlyConnected()
        do {
            return OpenActivities(
                device: device, offers: try await RemoteOffer.open(at: device.path, of: bridge, broker))
        } catch let error as DBusError {
            throw failure(error, device)
        }
    }

    /// What to say if that is nothing.
    var nothing: String {
        tr("Nothing that could be continued is open at “{device}”.", ["device": device.label.shown])
    }

    /// The lines that show them, each with its number, and why nothing here continues it if that is so. What others chose is
    /// never wider than `columns`, as in ``OfferChoice``.
    @MainLoop
    func lines(within columns: Int? = nil) -> [String] {
        zip(offers, OfferChoice(among: offers).lines(within: columns)).flatMap { offer, line in
            [line] + (offer.hindrance.map { ["      " + $0] } ?? [])
        }
    }

    /// Why the device has not said what is open there, for people; `error` itself if nobody has answered.
    static func failure(_ error: DBusError, _ device: KnownDevice) -> any Error {
        guard let code = HandoffFailure.Code(error.name) else { return error }
        var values = ["device": device.label.shown]
        let words: String
        switch code {
        case .connectionUnavailable where !device.isConnected:
            words = tr(
                "“{device}” is not connected, so it cannot say what is open there. Is it on, with Handoff switched on?"
                    + " See “handoff status”.", values)
        case .notSupported:
            words = tr(
                "The Handoff of “{device}” is too old to say what is open there. Update it there; “handoff list”"
                    + " shows what it offers.", values)
        case .disabled:
            words = tr(
                "Handoff is switched off, here or on “{device}”, which does not say what is open there. Switch it on"
                    + " with “handoff on”.", values)
        default:
            // The words may be those of the device.
            values["reason"] = ChosenText(message: error.message).shown
            words = tr("“{device}” has not said what is open there: “{reason}”", values)
        }
        return CommandFailure(words, errorName: error.name.text)
    }
}
