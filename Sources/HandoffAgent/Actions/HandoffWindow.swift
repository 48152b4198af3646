// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The Handoff window, which is a program of its own.
@MainLoop
final class HandoffWindow {
    /// Called with the reason, for people to read, if the window cannot be opened.
    var onFailure: (@MainLoop (String) -> Void)?

    private let bus: Bus
    private var isOpening = false
    /// How long a program may take to start.
    private static let patience = Duration.seconds(30)

    /// The window on `bus`.
    init(_ bus: Bus) { self.bus = bus }

    /// Opens it, or brings it to the front; the bus starts the program if it does not run. `token` lets it come to the front,
    /// and may be empty.
    func open(token: String) {
        guard !isOpening else { return }
        isOpening = true
        MainLoop.start { [weak self] in await self?.activate(token) }
    }

    private func activate(_ token: String) async {
        defer { isOpening = false }
        let data: [String: Value] =
            token.isEmpty
            ? [:] : ["activation-token": .string(token), "desktop-startup-id": .string(token)]
        do {
            try await ApplicationProxy(
                RemoteObject(bus.connection, HandoffNames.settings, HandoffNames.settingsPath)
            )
            .activate(platformData: data, timeout: Self.patience)
        } catch {
            let message = DBusError.converting(error).message
            agentLog.info("The Handoff window cannot be opened: \(message)")
            onFailure?(message)
        }
    }
}
