// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Foundation
package import MainLoop

/// A message bus of its own for one test; it ends with the value.
@MainLoop
package final class TestBus {
    /// Where it listens, for ``Bus/Address/address(_:)`` and `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String
    private let daemon: ChildProcess
    private let directory: TemporaryDirectory

    private init(_ address: String, _ daemon: ChildProcess, _ directory: TemporaryDirectory) {
        self.address = address
        self.daemon = daemon
        self.directory = directory
    }

    /// Starts a bus.
    /// - Parameters:
    ///   - services: bus service files, by their names.
    ///   - limits: `<limit>` elements by name.
    package static func start(
        services: [String: String] = [:], limits: [String: Int] = [:], environment: [String: String?] = [:]
    ) async throws -> TestBus {
        let directory = try TemporaryDirectory()
        for (name, text) in services { try directory.write(text, to: "services/\(name)") }
        let file = try directory.write(configuration(directory, limits), to: "bus.conf")
        // Should the test's process die, the bus goes with it.
        let daemon = try ChildProcess(
            [
                "setpriv", "--pdeathsig", "TERM", "dbus-daemon", "--config-file=\(file)", "--nofork",
                "--nopidfile",
                "--print-address=1",
            ], environment: environment)
        try await eventually { daemon.output.hasSuffix("\n") || daemon.end != nil }
        guard daemon.end == nil, let address = daemon.output.split(separator: "\n").first else {
            throw TimedOut(description: "dbus-daemon did not start: \(daemon.errors)")
        }
        return TestBus(String(address), daemon, directory)
    }

    /// A new connection to it.
    package func connect() throws -> Bus { try Bus(.address(address)) }

    /// Kills it, as a crash would.
    package func kill() { daemon.send(signal: SIGKILL) }

    /// What the environment of a program must say for it to use this bus.
    package var environment: [String: String?] {
        [
            "DBUS_SESSION_BUS_ADDRESS": address, "DBUS_SYSTEM_BUS_ADDRESS": address,
            "DBUS_STARTER_ADDRESS": nil,
        ]
    }

    /// The limits that dbus-daemon's own session.conf sets; the built-in ones are for a system bus.
    private static let sessionLimits = [
        "max_incoming_bytes": 1_000_000_000, "max_incoming_unix_fds": 250_000_000,
        "max_outgoing_bytes": 1_000_000_000, "max_outgoing_unix_fds": 250_000_000,
        "max_message_size": 1_000_000_000, "service_start_timeout": 120_000, "auth_timeout": 240_000,
        "pending_fd_timeout": 150_000, "max_completed_connections": 100_000,
        "max_incomplete_connections": 10_000, "max_connections_per_user": 100_000,
        "max_pending_service_starts": 10_000, "max_names_per_connection": 50_000,
        "max_match_rules_per_connection": 50_000, "max_replies_per_connection": 50_000,
    ]

    private static func configuration(_ directory: TemporaryDirectory, _ limits: [String: Int]) -> String {
        let elements = sessionLimits.merging(limits) { $1 }.sorted { $0.key < $1.key }.map {
            "<limit name=\"\($0.key)\">\($0.value)</limit>"
        }.joined(separator: "\n")
        return """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <keep_umask/>
              <listen>unix:path=\(directory.path("bus"))</listen>
              <auth>EXTERNAL</auth>
              <servicedir>\(directory.path("services"))</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
              \(elements)
            </busconfig>
            """
    }
}
