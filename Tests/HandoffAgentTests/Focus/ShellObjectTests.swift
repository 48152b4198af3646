// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffAgent
import HandoffClient
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@Suite("What the desktop's shell tells the agent")
struct ShellObjectTests {
    /// An agent's object for shells on a bus, and a program there that may own a shell's name.
    @MainLoop
    private final class Stage {
        let testBus: MemoryBus
        let agentBus: Bus
        let clock = LoopClock()
        let object: ShellObject
        let shell: Bus
        /// The tokens that are wanted of the program.
        var wanted: [(request: UInt32, application: String)] = []
        private var token: SignalToken?

        init() async throws {
            testBus = MemoryBus()
            agentBus = testBus.connect()
            agentBus.connection.policy = BusAccessPolicy()
            clock.stop()
            object = ShellObject(agentBus, by: clock)
            agentBus.connection.objects.export(HandoffNames.agentPath, object.rootInterfaces)
            object.begin()
            agentBus.connection.objects.export(HandoffNames.agentPath, [AgentBinding(object)])
            shell = testBus.connect()
            token = shell.connection.onSignal(AgentProxy.interface, AgentTokenWanted.member) { [weak self] in
                guard let signal = try? AgentTokenWanted($0) else { return }
                self?.wanted.append((signal.request, signal.applicationId))
            }
        }

        var proxy: AgentProxy { proxy(of: shell) }

        func proxy(of bus: Bus) -> AgentProxy {
            AgentProxy(RemoteObject(bus.connection, agentBus.uniqueName, HandoffNames.agentPath))
        }
    }

    private static let editor: [String: Value] = ["ApplicationId": .string("com.example.editor")]

    @Test(
        "the focus is taken from the owner of a shell's name, as long as it owns it",
        arguments: ["org.gnome.Shell", "org.kde.KWin"])
    func focus(name: String) async throws {
        try await onLoop {
            let stage = try await Stage()
            let name = try BusName(name)
            #expect(try await stage.shell.request(name) == .owned)
            try await stage.proxy.focusChanged(window: Self.editor)
            #expect(stage.object.window?.application?.description == "com.example.editor")
            try await stage.proxy.focusChanged(window: [:])
            #expect(stage.object.window == nil)
            try await stage.proxy.focusChanged(window: Self.editor)
            try await stage.shell.release(name)
            try await eventually { stage.object.window == nil }
        }
    }

    @Test("who owns no shell's name is told so, and changes nothing")
    func stranger() async throws {
        try await onLoop {
            let stage = try await Stage()
            #expect(try await stage.shell.request("org.gnome.Shell") == .owned)
            try await stage.proxy.focusChanged(window: Self.editor)
            let other = stage.testBus.connect()
            let stranger = stage.proxy(of: other)
            let calls: [@MainLoop () async throws -> Void] = [
                { try await stranger.focusChanged(window: [:]) }, { try await stranger.attach() },
                { try await stranger.detach() },
                { try await stranger.provideToken(request: 1, token: "x") },
            ]
            for call in calls {
                await #expect {
                    try await call()
                } throws: { ($0 as? DBusError)?.name == .accessDenied }
            }
            #expect(stage.object.window != nil)
            #expect(!other.connection.isClosed)
        }
    }

    @Test(
        "what is not what it should be is InvalidArgs, naming it, and the former window has the focus no longer"
    )
    func wrongWords() async throws {
        try await onLoop {
            let stage = try await Stage()
            #expect(try await stage.shell.request("org.gnome.Shell") == .owned)
            let wrong: [(String, Value)] = [
                ("ApplicationId", .string("../../x")), ("ApplicationId", .int32(1)), ("Title", .bytes([1])),
                ("ProcessId", .uint32(1)), ("BusName", .string("no name")), ("WindowPath", .string("/a")),
            ]
            for (key, value) in wrong {
                try await stage.proxy.focusChanged(window: Self.editor)
                await #expect {
                    try await stage.proxy.focusChanged(window: [key: value])
                } throws: {
                    let error = $0 as? DBusError
                    return error?.name == .invalidArgs && error?.message.isEmpty == false
                }
                #expect(stage.object.window == nil, "\(key)")
            }
        }
    }

    @Test("the focus is in no property and in no signal, whoever looks")
    func toldToNobody() async throws {
        try await onLoop {
            let stage = try await Stage()
            var signals = 0
            let agent = stage.agentBus.uniqueName.text
            stage.testBus.onMessage = { if $0.kind == .signal, $0.sender?.text == agent { signals += 1 } }
            #expect(try await stage.shell.request("org.gnome.Shell") == .owned)
            try await stage.proxy.focusChanged(
                window: Self.editor.merging(["Title": .string("Private")]) { $1 })
            #expect(stage.object.window != nil)
            let other = stage.testBus.connect()
            let stranger = stage.proxy(of: other)
            #expect(try await stranger.object.properties(AgentProxy.interface).isEmpty)
            await #expect(throws: DBusError.self) { try await stranger.object.managedObjects() }
            #expect(signals == 0 && !other.connection.isClosed)
        }
    }

    @Test("a shell that has attached makes tokens, and nobody is asked after it has detached")
    func tokens() async throws {
        try await onLoop {
            let stage = try await Stage()
            let editor = try ApplicationID("com.example.editor")
            #expect(await stage.object.token(for: editor) == "")
            #expect(try await stage.shell.request("org.gnome.Shell") == .owned)
            try await stage.proxy.attach()
            let object = stage.object
            let token = MainLoop.start { await object.token(for: editor) }
            try await eventually { !stage.wanted.isEmpty }
            #expect(stage.wanted[0].application == "com.example.editor")
            // Neither an answer to something else nor a second one counts.
            try await stage.proxy.provideToken(request: stage.wanted[0].request &+ 1, token: "other")
            try await stage.proxy.provideToken(request: stage.wanted[0].request, token: "token")
            try await stage.proxy.provideToken(request: stage.wanted[0].request, token: "second")
            #expect(await token.value == "token")
            try await stage.proxy.detach()
            #expect(await stage.object.token(for: editor) == "")
            #expect(stage.wanted.count == 1)
        }
    }

    @Test("whether a shell is attached is told when it attaches, detaches or leaves")
    func attached() async throws {
        try await onLoop {
            let stage = try await Stage()
            var told: [Bool] = []
            stage.object.onAttachmentChange = { [unowned object = stage.object] in
                told.append(object.isAttached)
            }
            #expect(try await stage.shell.request("org.gnome.Shell") == .owned)
            try await stage.proxy.focusChanged(window: Self.editor)
            #expect(!stage.object.isAttached && told.isEmpty)
            try await stage.proxy.attach()
            try await stage.proxy.attach()
            #expect(told == [true])
            try await stage.proxy.detach()
            #expect(told == [true, false])
            try await stage.proxy.attach()
            try await stage.shell.release("org.gnome.Shell")
            try await eventually { told == [true, false, true, false] }
        }
    }

    @Test("a shell that does not answer, or leaves, is waited for no longer than half a second")
    func silence() async throws {
        try await onLoop {
            let stage = try await Stage()
            let editor = try ApplicationID("com.example.editor")
            #expect(try await stage.shell.request("org.gnome.Shell") == .owned)
            try await stage.proxy.attach()
            let (object, clock) = (stage.object, stage.clock)
            let first = MainLoop.start { await object.token(for: editor) }
            try await eventually { stage.wanted.count == 1 }
            while !clock.advance(to: clock.now + 500_000) {}
            #expect(await first.value == "")
            let token = MainLoop.start { await object.token(for: editor) }
            try await eventually { stage.wanted.count == 2 }
            try await stage.shell.release("org.gnome.Shell")
            #expect(await token.value == "")
        }
    }

    @Test("a token that is too long is refused")
    func longToken() async throws {
        try await onLoop {
            let stage = try await Stage()
            #expect(try await stage.shell.request("org.gnome.Shell") == .owned)
            await #expect {
                try await stage.proxy.provideToken(request: 1, token: String(repeating: "x", count: 257))
            } throws: { ($0 as? DBusError)?.name == .invalidArgs }
        }
    }
}
