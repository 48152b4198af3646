// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import HandoffInterfaces
import HandoffStatus
import MainLoop
import TestSupport
import Testing

@testable import HandoffAgent

@Suite("What of the desktop's clipboard goes to other devices", .timeLimit(.minutes(1)))
struct AgentClipboardTests {
    @MainLoop
    private final class Stage {
        let memory = MemoryBus()
        let way = PlayedWay()
        let focus = PlayedFocus()
        let broker = PlayedBroker()
        let brokerBus: Bus
        let agentBus: Bus
        let clipboard: AgentClipboard
        /// The agent's object, as the broker calls it.
        let proxy: DesktopClipboardProxy
        private let lock = Lock()
        var isUnlocked: Bool {
            get { lock.isOpen }
            set { lock.isOpen = newValue }
        }
        private(set) var pasted: [ClipboardSummary] = []
        private(set) var asked: [[ClipboardKind]] = []
        private var excluded: [String] = []

        init(_ mode: ClipboardMode = .follow) async throws {
            (brokerBus, agentBus) = (memory.connect(), memory.connect())
            brokerBus.connection.policy = BusAccessPolicy()
            let policy = BusAccessPolicy()
            policy.nameOwners = [.broker: brokerBus.uniqueName]
            agentBus.connection.policy = policy
            brokerBus.connection.objects.export(HandoffNames.brokerPath, [ClipboardBinding(broker)])
            let missing = PlayedWay()
            missing.isThere = false
            clipboard = AgentClipboard(focus, [missing, way]) { [lock] in lock.isOpen }
            agentBus.connection.objects.export(
                HandoffNames.agentClipboard, [DesktopClipboardBinding(clipboard)])
            proxy = DesktopClipboardProxy(
                RemoteObject(brokerBus.connection, agentBus.uniqueName, HandoffNames.agentClipboard))
            clipboard.onPasted = { [weak self] summary, _ in self?.pasted.append(summary) }
            clipboard.onAsked = { [weak self] kinds, _ in self?.asked.append(kinds) }
            choose(mode)
            if mode != .off { try await eventually { broker.registered == ["Played"] } }
        }

        func choose(_ mode: ClipboardMode, excluded: [String]? = nil) {
            if let excluded { self.excluded = excluded }
            clipboard.update(
                Daemon(bus: agentBus, name: brokerBus.uniqueName),
                ["Clipboard": .string(mode.rawValue), "ExcludedApplications": .strings(self.excluded)],
                desktop: "Played")
        }

        func read(_ type: String = "") async throws -> ClipboardContent {
            let reply = try await proxy.read(type: type)
            let contents = reply.contents
            return try ClipboardContent(contents, reply.content)
        }

        func write(_ text: String) async throws {
            let content = try ClipboardContent([(.text, ClipboardFile(Array(text.utf8)))])
            try await proxy.write(
                deviceId: "ab", contents: content.contents, content: try content.file.handedOut())
        }

        /// What reading is answered with.
        func refusal() async -> ErrorName? {
            do { _ = try await read() } catch { return DBusError.converting(error).name }
            return nil
        }
    }

    private static let text = "text/plain;charset=utf-8"

    @Test(
        "a change is told by the kinds that are known, what is wanted is read when it is wanted, and all of it at once"
    )
    func copied() async throws {
        try await onLoop {
            let stage = try await Stage()
            stage.way.copy([Self.text: [65], "text/html": [66, 67], "text/rtf": [68]])
            try await eventually { stage.broker.changes == [["text/plain", "text/html"]] }
            #expect(stage.way.reads.isEmpty)
            let content = try await stage.read()
            #expect(try content.kinds == [.text, .html] && content.file.bytes() == [65, 66, 67])
            #expect(try await stage.read("text/html").file.bytes() == [66, 67])
            stage.way.contents["text/html"] = nil
            #expect(try await stage.read().kinds == [.text])
        }
    }

    @Test("of a device that asks nothing is told; switched off, the clipboard is left alone")
    func modes() async throws {
        try await onLoop {
            let stage = try await Stage(.ask)
            stage.way.copy([Self.text: [65]])
            #expect(try await stage.read().kinds == [.text])
            #expect(stage.broker.changes.isEmpty)
            stage.choose(.off)
            try await eventually { stage.broker.unregistered == 1 }
            #expect(stage.way.hasEnded)
            #expect(await stage.refusal() == .notSupported)
        }
    }

    @Test(
        "a secret, an application that is kept out and a locked session count as nothing",
        arguments: [0, 1, 2])
    func never(what: Int) async throws {
        try await onLoop {
            let stage = try await Stage()
            switch what {
            case 0: stage.way.copy([Self.text: [65], "x-kde-passwordManagerHint": [66]])
            case 1:
                var window = FocusedWindow()
                window.application = try ApplicationID("com.example.bank")
                stage.focus.window = window
                stage.choose(.follow, excluded: ["com.example.bank"])
                stage.way.copy([Self.text: [65]])
                // Where the user is now does not matter.
                stage.focus.window = nil
            default:
                stage.isUnlocked = false
                stage.way.copy([Self.text: [65]])
            }
            let expected = what == 2 ? ErrorName.accessDenied : HandoffFailure.Code.offerWithdrawn.errorName
            #expect(await stage.refusal() == expected)
            #expect(stage.way.reads.isEmpty && stage.broker.changes.allSatisfy({ $0.isEmpty }))
        }
    }

    @Test(
        "what changes while it is read does not leave: another content, an application that is kept out, a lock",
        arguments: [0, 1, 2])
    func meanwhile(what: Int) async throws {
        try await onLoop {
            let stage = try await Stage()
            var window = FocusedWindow()
            window.application = try ApplicationID("com.example.editor")
            stage.focus.window = window
            stage.way.copy([Self.text: [65], "text/html": [66]])
            #expect(await stage.refusal() == nil)
            stage.way.onRead = {
                switch what {
                case 0: stage.way.user?.clipboardChanging()
                case 1: stage.choose(.follow, excluded: ["com.example.editor"])
                default: stage.isUnlocked = false
                }
            }
            #expect(await stage.refusal() != nil)
        }
    }

    @Test(
        "where nobody knows in which application it was copied, nothing goes while one is kept out; what was there at first is not new"
    )
    func unknown() async throws {
        try await onLoop {
            let stage = try await Stage()
            stage.way.copy([Self.text: [65]], isNew: false)
            #expect(try await stage.read().kinds == [.text])
            #expect(stage.broker.changes.isEmpty)
            stage.choose(.follow, excluded: ["com.example.bank"])
            #expect(await stage.refusal() == HandoffFailure.Code.offerWithdrawn.errorName)
            var window = FocusedWindow()
            window.application = try ApplicationID("com.example.editor")
            stage.focus.window = window
            stage.way.copy([Self.text: [65]])
            #expect(await stage.refusal() == nil)
            stage.focus.isTelling = false
            stage.way.copy([Self.text: [66]])
            #expect(await stage.refusal() == HandoffFailure.Code.offerWithdrawn.errorName)
        }
    }

    @Test(
        "when the clipboard is lost, as behind a lock, the broker is told; what is there again is what it was, and is not told as new"
    )
    func lost() async throws {
        try await onLoop {
            let stage = try await Stage()
            try await stage.write("theirs")
            stage.way.user?.clipboardLost()
            try await eventually { stage.broker.unregistered == 1 }
            #expect(await stage.refusal() == .notSupported)
            stage.way.copy([Self.text: [65]], isNew: false)
            try await eventually { stage.broker.registered.count == 2 }
            #expect(await stage.refusal() == HandoffFailure.Code.offerWithdrawn.errorName)
            #expect(stage.broker.changes.isEmpty)
            stage.way.isReached = false
            var isWritten = true
            do { try await stage.write("x") } catch {
                isWritten = DBusError.converting(error).name != .notSupported
            }
            #expect(!isWritten && stage.pasted.count == 1)
        }
    }

    @Test(
        "a broker that ends takes nothing from the user, nor does the choice of off: what was pasted stays")
    func stays() async throws {
        try await onLoop {
            let stage = try await Stage()
            try await stage.write("theirs")
            stage.clipboard.update(nil, nil, desktop: "")
            #expect(await stage.way.paste(Self.text) == Array("theirs".utf8))
            stage.choose(.off)
            #expect(await stage.way.paste(Self.text) == Array("theirs".utf8))
            #expect(!stage.way.hasEnded)
            stage.way.copy([Self.text: [65]])
            #expect(stage.way.hasEnded)
        }
    }

    @Test(
        "what the user pastes is owned until something else is copied, told to the user, and goes no further")
    func pasted() async throws {
        try await onLoop {
            let stage = try await Stage()
            try await stage.write("Größe")
            #expect(stage.pasted.map(\.characters) == [5])
            #expect(stage.way.owned?.types.contains("UTF8_STRING") == true)
            #expect(await stage.way.paste(Self.text) == Array("Größe".utf8))
            #expect(await stage.way.paste("image/png") == nil)
            #expect(await stage.refusal() == HandoffFailure.Code.offerWithdrawn.errorName)
            stage.isUnlocked = false
            #expect(await stage.way.paste(Self.text) == nil)
            #expect(stage.broker.changes.isEmpty)
        }
    }

    @Test(
        "what was copied elsewhere is fetched when somebody pastes it, once; not for who is faster than a user"
    )
    func followed() async throws {
        try await onLoop {
            let stage = try await Stage()
            try await stage.proxy.follow(deviceId: "ab", types: ["text/plain", "x/y"], age: 0)
            #expect(await stage.way.paste(Self.text) == nil)
            #expect(stage.broker.reads.isEmpty)
            try await MainLoop.sleep(for: .milliseconds(20))
            #expect(await stage.way.paste(Self.text) == Array("theirs".utf8))
            #expect(await stage.way.paste("UTF8_STRING") == Array("theirs".utf8))
            #expect(stage.broker.reads == ["text/plain"])
            #expect(stage.way.owned?.types.last == "x-kde-passwordManagerHint")
            #expect(await stage.refusal() == HandoffFailure.Code.offerWithdrawn.errorName)
        }
    }

    @Test(
        "it is given up when it is two minutes old, when there is nothing any more, and when it is no longer wanted",
        arguments: [0, 1, 2])
    func givenUp(how: Int) async throws {
        try await onLoop {
            let stage = try await Stage()
            let age: Int64 = how == 0 ? 119_950_000 : 0
            try await stage.proxy.follow(deviceId: "ab", types: ["text/plain"], age: age)
            #expect(stage.way.owned != nil)
            switch how {
            case 0: break
            case 1:
                try await stage.proxy.follow(deviceId: "cd", types: [], age: 0)
                #expect(stage.way.owned != nil)
                try await stage.proxy.follow(deviceId: "ab", types: [], age: 0)
            default: stage.choose(.ask)
            }
            try await eventually { stage.way.disowned == 1 }
            // What a clipboard manager puts back then is not told as something new.
            stage.way.copy([Self.text: [65]])
            #expect(await stage.refusal() == HandoffFailure.Code.offerWithdrawn.errorName)
            #expect(stage.broker.changes.allSatisfy({ $0.isEmpty }))
        }
    }

    @Test(
        "what is too old, or comes to a locked session, is not taken over; a question is not put in a locked one"
    )
    func refused() async throws {
        try await onLoop {
            let stage = try await Stage()
            try await stage.proxy.follow(deviceId: "ab", types: ["text/plain"], age: 120_000_000)
            try await stage.proxy.follow(deviceId: "ab", types: ["text/plain"], age: .max)
            #expect(stage.way.owned == nil)
            try await stage.proxy.ask(deviceId: "ab", types: ["image/png"])
            try await eventually { stage.asked == [[.image]] }
            stage.isUnlocked = false
            #expect(
                await isRefused {
                    try await stage.proxy.follow(deviceId: "ab", types: ["text/plain"], age: 0)
                })
            #expect(await isRefused { try await stage.proxy.ask(deviceId: "ab", types: ["text/plain"]) })
            #expect(await isRefused { try await stage.write("x") })
            #expect(stage.way.owned == nil && stage.asked.count == 1)
        }
    }

    @MainLoop
    private func isRefused(_ body: @MainLoop () async throws -> Void) async -> Bool {
        do { try await body() } catch { return DBusError.converting(error).name == .accessDenied }
        return false
    }
}
