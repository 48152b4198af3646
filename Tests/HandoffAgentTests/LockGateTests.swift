// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffAgent
import HandoffInterfaces
import HandoffStatus
import MainLoop
import TestSupport
import Testing

@Suite("The gate before the surfaces", .timeLimit(.minutes(1)))
struct LockGateTests {
    /// Writes down the titles that it is to show.
    @MainLoop
    private final class Witness: Surface {
        var shown: [[String]] = []
        func begin() {}
        func update(_ report: StatusReport) {
            shown.append((report.broker.content?.offers ?? []).map(\.title))
        }
    }

    @Test("is closed until it is known that the session is not locked, and whenever it is")
    func showing() async throws {
        try await onLoop {
            let (gate, witness) = (LockGate(RecordedActions()), Witness())
            gate.lead(to: witness)
            gate.update(try Sample.report(["One"]))
            #expect(!gate.isOpen && witness.shown.isEmpty)
            gate.set(isLocked: true)
            gate.update(try Sample.report(["Two"]))
            #expect(witness.shown == [[], []])
            gate.set(isLocked: false)
            gate.update(try Sample.report(["Three"]))
            gate.set(isLocked: true)
            #expect(witness.shown.dropFirst(2) == [["Two"], ["Three"], []])
        }
    }

    @Test("a locked session is shown nothing by the search and the panel, and no action is done")
    func surfaces() async throws {
        try await onLoop {
            let (bus, actions) = (MemoryBus(), RecordedActions())
            let (gate, server) = (LockGate(actions), bus.connect())
            let (panel, search) = (
                Panel(on: server, gate, KnownFaces()), SearchSurface(on: server, gate, KnownFaces())
            )
            let user = bus.connect()
            server.connection.policy = BusAccessPolicy()
            let provider = RemoteObject(
                user.connection, server.uniqueName, "/org/example/Handoff/Agent/SearchProvider")
            for surface in [panel, search] as [any Surface] {
                gate.lead(to: surface)
                surface.begin()
            }
            gate.update(try Sample.report(["One"]))
            for (isLocked, count) in [(true, 0), (false, 1), (true, 0)] {
                gate.set(isLocked: isLocked)
                _ = panel.catchUp()
                #expect(panel.content.isActive == !isLocked)
                let reply = try await provider.call(
                    "org.gnome.Shell.SearchProvider2", "GetInitialResultSet", output: "as"
                ) { (writer) throws(DBusError) in try writer.write(["one"]) }
                var reader = MessageReader(reply)
                let found: [String] = try reader.read()
                #expect(found.count == count)
                actions.actions = []
                gate.continueOffer(at: try Sample.path(0), in: nil, token: "")
                gate.dismissOffer(at: try Sample.path(0))
                gate.send(to: "dddd")
                gate.paste(from: "dddd")
                gate.confirmPairing(with: "dddd", matches: true)
                gate.setEnabled(true)
                gate.openWindow(token: "")
                gate.openEverything(at: "dddd", token: "")
                #expect(actions.actions.count == (isLocked ? 0 : 8))
            }
        }
    }
}
