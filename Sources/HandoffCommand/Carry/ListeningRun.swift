// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What connects to a Unix socket is given to the bridge, whichever that is, until the command is to end.
@MainLoop
final class ListeningRun {
    private let session: Session
    private let events: DaemonEvents
    private let said = SaidOnce()
    private var bridge: Daemon?
    private var socket: ListeningSocket?

    /// Nothing is listened on yet.
    /// - Throws: if there is no session bus.
    init(_ session: Session) throws(CommandFailure) {
        self.session = session
        events = DaemonEvents(try session.bus(), HandoffNames.bridge)
    }

    /// Listens at `path` until the user wants it to end. The bridge is `first` to begin with.
    /// - Throws: why it cannot listen there, or cannot go on.
    func run(at path: String, _ first: Daemon) async throws -> Int32 {
        bridge = first
        socket = try ListeningSocket(path) { [weak self] in await self?.carry($0) }
        defer { socket?.end() }
        for await event in events.stream {
            switch event {
            case .end: return 0
            case .busEnded: throw CommandFailure.busEnded
            case .failed(let failure): throw failure
            case .owner(let owner):
                if let owner, owner == bridge?.name { continue }
                bridge = nil
                if let owner { bridge = try await session.believed(owner, of: HandoffNames.bridge) }
            }
        }
        return 0
    }

    /// Gives a connection to the bridge, and closes it here.
    private func carry(_ number: Int32) async {
        let connection = FileDescriptor(owning: number)
        guard let bridge else {
            said.say(tr("There is no bridge at present. Connections are closed."))
            return
        }
        do {
            try await bridge.bridge.carry(connection: connection)
        } catch {
            said.say(
                tr("A connection was refused: {reason}", ["reason": CommandFailure(error).message]))
        }
    }
}
