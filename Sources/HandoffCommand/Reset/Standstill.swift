// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Both daemons of this session ended, and kept from coming back as long as this has their bus names.
///
/// They end as when others take their place: their links end in order, what waits to be written is written, and systemd does
/// not start them again. The names are held until nothing is left to be removed, so that the bus starts neither.
@MainLoop
struct Standstill {
    /// Whether a daemon was running.
    private(set) var hasEndedAny = false

    private let bus: Bus
    private static let names = [HandoffNames.bridge, HandoffNames.broker]
    /// How long a daemon may take to end; it promises a second.
    private static let patience = Duration.seconds(5)

    /// Ends the daemons of the session.
    /// - Throws: if one does not end.
    init(_ session: Session) async throws {
        bus = try session.bus()
        for name in Self.names { if try await Self.end(name, in: session) { hasEndedAny = true } }
    }

    /// Lets daemons start again.
    func end() async { for name in Self.names { try? await bus.release(name) } }

    /// Takes `name`, and returns once its owner has ended.
    /// - Returns: whether it had one.
    private static func end(_ name: BusName, in session: Session) async throws -> Bool {
        let bus = try session.bus()
        // A name that was taken in a sandbox is refused here.
        guard try await session.running(name) != nil,
            let process = try await bus.identifiedOwner(of: name)?.credentials?.processID
        else {
            guard try await bus.request(name, replaceable: false) == .owned else { throw hasBegun(name) }
            return false
        }
        let handle = ProcessHandle(process)
        guard try await bus.request(name, replacing: true, replaceable: false) == .owned,
            await handle.end(within: patience)
        else { throw restless(name, process) }
        return true
    }

    private static func restless(_ name: BusName, _ process: UInt32) -> CommandFailure {
        CommandFailure(
            tr(
                "The owner of {name}, process {process}, does not end. End it with “kill -KILL {process}”, then try again."
                    + " No file was removed.",
                ["name": name.text, "process": "\(process)"]))
    }

    private static func hasBegun(_ name: BusName) -> CommandFailure {
        CommandFailure(
            tr(
                "Something has just taken the name {name}. Try again. No file was removed.",
                ["name": name.text]))
    }
}
