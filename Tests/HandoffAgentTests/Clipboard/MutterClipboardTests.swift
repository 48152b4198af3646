// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffAgent

@Suite("The clipboard of GNOME on Wayland", .timeLimit(.minutes(1)))
struct MutterClipboardTests {
    /// Whoever notes what a clipboard tells, and what is wanted of it.
    @MainLoop
    private final class Notes: ClipboardUser {
        private(set) var told: [[String]] = []
        private(set) var losses = 0
        var wanted: [String] = []

        func clipboardChanging() {}
        func clipboardChanged(_ types: [String], isNew: Bool) { told.append(types) }
        func clipboardLost() { losses += 1 }
    }

    /// A clipboard on a bus with a Mutter.
    @MainLoop
    private final class Stage {
        let testBus = MemoryBus()
        let mutterBus: Bus
        let mutter: PlayedMutter
        let agentBus: Bus
        let clipboard: MutterClipboard
        let notes = Notes()

        init(in sandbox: Sandbox? = nil) async throws {
            mutterBus = testBus.connect(in: sandbox)
            mutter = PlayedMutter(mutterBus)
            agentBus = testBus.connect()
            clipboard = MutterClipboard(agentBus)
            clipboard.user = notes
            #expect(try await mutterBus.request(PlayedMutter.service) == .owned)
        }

        /// The session that there is once the clipboard has begun.
        func begin() async throws -> PlayedSession {
            #expect(await clipboard.begin())
            return try #require(mutter.session)
        }

        /// Owns the clipboard with a text, and a picture that is refused.
        func own() {
            MainLoop.start { [clipboard, notes] in await Self.own(clipboard, notes) }
        }

        private static func own(_ clipboard: MutterClipboard, _ notes: Notes) async {
            _ = await clipboard.own(["text/plain", "image/png"]) { [notes] type in
                notes.wanted.append(type)
                guard type == "text/plain" else { return nil }
                return try? ClipboardFile(Array("ours".utf8))
            }
        }
    }

    @Test("what is in it is told at the beginning, also if that is nothing", arguments: [nil, ["text/html"]])
    func beginning(types: [String]?) async throws {
        try await onLoop {
            let stage = try await Stage()
            stage.mutter.types = types
            _ = try await stage.begin()
            #expect(stage.notes.told == [types ?? []])
        }
    }

    @Test("what other programs put into it is told, as far as it counts, and what is ours is not")
    func changes() async throws {
        try await onLoop {
            let stage = try await Stage()
            let session = try await stage.begin()
            let long = String(repeating: "x", count: 257)
            try session.tellOwner(["a", long, "b"])
            try session.tellOwner(["ours"], isOurs: true)
            try session.tellOwner((0...ClipboardTypes.maximum).map { "\($0)" })
            try session.tellOwner(nil)
            try await eventually { stage.notes.told.count == 4 }
            // Too many count as none, since a mark may be the last.
            #expect(stage.notes.told == [["text/html"], ["a", "b"], [], []])
        }
    }

    @Test("without Mutter, with one in a sandbox, and with one that makes no session, there is none")
    func none() async throws {
        try await onLoop {
            let alone = MutterClipboard(MemoryBus().connect())
            #expect(await !alone.begin())
            let sandboxed = try await Stage(in: .flatpak(application: "com.example.other"))
            #expect(await !sandboxed.clipboard.begin())
            #expect(sandboxed.mutter.session == nil)
            let locked = try await Stage()
            locked.mutter.isInhibited = true
            #expect(await !locked.clipboard.begin())
            locked.mutter.isInhibited = false
            #expect(await locked.clipboard.begin())
            #expect(locked.notes.losses == 0)
        }
    }

    @Test("it is read once at a time, and what Mutter does not give is OfferWithdrawn")
    func reading() async throws {
        try await onLoop {
            let stage = try await Stage()
            let session = try await stage.begin()
            let clipboard = stage.clipboard
            let first = MainLoop.start { try await clipboard.read("first") }
            let second = MainLoop.start { try await clipboard.read("second") }
            try await eventually { session.isRead }
            #expect(session.asked == ["first"])
            try session.give("one")
            #expect(try await first.value.bytes() == Array("one".utf8))
            try await eventually { session.isRead }
            #expect(session.asked == ["first", "second"])
            try session.give("")
            #expect(try await second.value.size == 0)
            await #expect {
                _ = try await clipboard.read("none")
            } throws: { ($0 as? HandoffFailure)?.code == .offerWithdrawn }
        }
    }

    @Test("what is owned is given when it is wanted, and not to Mutter, which wants it before it answers")
    func owning() async throws {
        try await onLoop {
            let stage = try await Stage()
            let session = try await stage.begin()
            stage.own()
            try await eventually { session.ended[1] == false }
            #expect(stage.notes.wanted.isEmpty)
            #expect(!session.called.contains("SelectionWrite"))
            try session.want("text/plain", 2)
            try session.want("image/png", 3)
            try session.want("other", 4)
            try await eventually { session.ended.count == 4 }
            #expect(session.ended == [1: false, 2: true, 3: false, 4: false])
            #expect(try session.text(2) == "ours")
            // Whoever pastes what is refused does not wait.
            #expect(try session.text(3) == "")
            #expect(stage.notes.wanted == ["text/plain", "image/png"])
            #expect(stage.notes.told.count == 1)
            try session.tellOwner(["theirs"])
            try session.want("text/plain", 5)
            try await eventually { session.ended[5] == false }
            #expect(stage.notes.told.last == ["theirs"])
            #expect(stage.notes.wanted.count == 2)
        }
    }

    @Test("what is owned is given up once, and with the end of the clipboard")
    func disowning() async throws {
        try await onLoop {
            let stage = try await Stage()
            let session = try await stage.begin()
            stage.clipboard.disown()
            stage.own()
            try await eventually { session.ended[1] == false }
            stage.clipboard.disown()
            stage.clipboard.disown()
            try await eventually { stage.notes.told.last == [] }
            #expect(session.called.filter { $0 == "SetSelection" }.count == 2)
            stage.clipboard.end()
            try await eventually { session.called.last == "DisableClipboard" }
            try session.tellOwner(["theirs"])
            // It would have come before the answer.
            _ = try await stage.agentBus.owner(of: PlayedMutter.service)
            #expect(stage.notes.told == [["text/html"], []])
            #expect(stage.notes.losses == 0)
        }
    }

    @Test(
        "it is lost when its session ends, and there again when it is tried once more, or with another Mutter"
    )
    func losing() async throws {
        try await onLoop {
            let stage = try await Stage()
            let session = try await stage.begin()
            stage.own()
            try await eventually { session.ended[1] == false }
            stage.mutter.isInhibited = true
            try session.end()
            try await eventually { stage.notes.losses == 1 }
            await #expect(throws: HandoffFailure.self) { try await stage.clipboard.read("text/html") }
            stage.clipboard.again()
            stage.clipboard.disown()
            stage.mutter.isInhibited = false
            stage.clipboard.again()
            try await eventually { stage.notes.told.count == 2 }
            let second = try #require(stage.mutter.session)
            #expect(second !== session)
            try second.want("text/plain", 2)
            try await eventually { second.ended[2] == false }
            #expect(stage.notes.wanted.isEmpty)

            try await stage.mutterBus.release(PlayedMutter.service)
            try await eventually { stage.notes.losses == 2 }
            let other = stage.testBus.connect()
            let mutter = PlayedMutter(other)
            mutter.types = ["another"]
            #expect(try await other.request(PlayedMutter.service) == .owned)
            try await eventually { stage.notes.told.last == ["another"] }
            #expect(stage.notes.told.count == 3 && stage.notes.losses == 2)
        }
    }

    @Test("what others say, what is said of another session, and what is no such thing change nothing")
    func hostile() async throws {
        try await onLoop {
            let stage = try await Stage()
            let session = try await stage.begin()
            let agent = stage.agentBus.uniqueName
            let stranger = stage.testBus.connect()
            let options: [String: Value] = ["mime-types": .strings(["false"])]
            for (connection, path): (Connection, ObjectPath) in [
                (stranger.connection, session.path),
                (stage.mutterBus.connection, "/org/gnome/Mutter/RemoteDesktop/Session/u99"),
            ] {
                try emit(on: connection, path, "SelectionOwnerChanged", to: agent) {
                    (writer) throws(DBusError) in
                    try writer.write(options)
                }
                try emit(on: connection, path, "Closed", to: agent) { (_) throws(DBusError) in }
            }
            for member: MemberName in ["SelectionOwnerChanged", "SelectionTransfer", "Other"] {
                try emit(on: stage.mutterBus.connection, session.path, member) {
                    (writer) throws(DBusError) in
                    try writer.write(UInt32(1))
                }
            }
            try session.want("text/plain", 7)
            try await eventually { session.ended[7] == false }
            #expect(stage.notes.told == [["text/html"]])
            // Types that are none are none that anybody can have; a bare list counts as one in a structure.
            for value: Value in [.int32(1), .strings(["right"])] {
                try emit(on: stage.mutterBus.connection, session.path, "SelectionOwnerChanged") {
                    (writer) throws(DBusError) in
                    try writer.write(["mime-types": value] as [String: Value])
                }
            }
            try await eventually { stage.notes.told.count == 3 }
            #expect(stage.notes.told == [["text/html"], [], ["right"]])
            #expect(stage.notes.losses == 0)
        }
    }
}
