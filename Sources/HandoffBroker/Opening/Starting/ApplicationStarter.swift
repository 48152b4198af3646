// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop

/// Starts applications, and has them open pages and documents.
@MainLoop
final class ApplicationStarter {
    private let bus: Bus

    init(_ bus: Bus) { self.bus = bus }

    /// Starts `application`, which is then expected to register. It ends with an error as soon as it is clear that the
    /// application will not; otherwise it may return before or after the application has registered.
    /// - Parameter activationToken: lets the application raise its window; empty for none.
    func start(_ application: ApplicationID, activationToken: String) async throws {
        do {
            // The bus does not decide how long this may take.
            try await bus.startService(
                try BusName(application.description), timeout: Deadline.registration * 2)
        } catch {
            let reason = PeerText.message(DBusError.converting(error).message)
            throw HandoffFailure(
                .applicationFailed,
                "\(application) could not be started (\(reason)). Start it by hand, then try again.")
        }
    }

    /// Has `application` open `url`, a web page or a file of this machine, whether or not it is running.
    /// - Throws: why it could not, or that it ended at once.
    func open(_ url: String, with application: ApplicationID, activationToken: String) async throws {
        throw HandoffFailure(.notSupported, "This version of Handoff opens no pages and documents.")
    }
}
