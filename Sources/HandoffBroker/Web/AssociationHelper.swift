// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Asks sites by running `handoff-associations`, one at a time: the broker itself does not touch the network.
@MainLoop
final class AssociationHelper {
    private let path: String?
    private var running: BriefProgram?

    /// How long the program may take; it ends by itself before, unless something is wrong.
    private static let deadline = Duration.seconds(15)

    /// All that the program finds in its environment. It is to reach no bus, no settings of the desktop, and no proxy.
    private static let environment = [
        "DBUS_SESSION_BUS_ADDRESS=disabled:", "DBUS_SYSTEM_BUS_ADDRESS=disabled:", "GIO_USE_VFS=local",
        "GIO_USE_PROXY_RESOLVER=dummy", "GIO_USE_NETWORK_MONITOR=base", "GSETTINGS_BACKEND=memory",
        "HOME=/nonexistent", "LC_ALL=C.UTF-8",
    ]

    /// The program at `path`, by default the one beside this program.
    init(_ path: String? = OwnProgram.folder.map { "\($0)/handoff-associations" }) { self.path = path }

    /// Asks the site of `host`. It is not to be called again before it has returned.
    func ask(_ host: WebHost) async -> SiteAnswer {
        guard let path else { return .failed }
        let program = BriefProgram(
            [path, host.description], environment: Self.environment, maximumSize: SiteAnswer.maximumSize)
        running = program
        defer { running = nil }
        do throws(GLibError) {
            let outcome = try await program.run(within: Self.deadline)
            let complaints = PeerText.message(
                String(decoding: outcome.complaints.prefix(2048), as: UTF8.self).split(separator: "\n")
                    .joined(separator: " "))
            guard outcome.status == 0, let answer = SiteAnswer(output: outcome.output) else {
                brokerLog.info("The site \(host) could not be asked about its applications. \(complaints)")
                return .failed
            }
            if complaints.isEmpty {
                brokerLog.debug("The site \(host) was asked about its applications.")
            } else {
                brokerLog.info("The site \(host) gives its pages to no application: \(complaints)")
            }
            return answer
        } catch {
            brokerLog.warning(
                "Sites cannot be asked about their applications: \(path) cannot be started (\(error.message)). Install"
                    + " Handoff anew.")
            return .failed
        }
    }

    /// Ends what is being asked, which fails.
    func giveUp() { running?.kill() }
}
