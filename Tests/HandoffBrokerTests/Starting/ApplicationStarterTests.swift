// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Foundation
import HandoffCore
import HandoffSession
import MainLoop
import Platform
import TestSupport
import Testing

@testable import HandoffBroker

/// What is started, on a bus without systemd.
@Suite("Starting programs, and having them open something")
struct ApplicationStarterTests {
    private static let application = "com.example.viewer-two"

    /// A starter that knows one application, whose entry has these keys.
    @MainLoop
    private static func starter(_ bus: Bus, _ keys: String) throws -> ApplicationStarter {
        let text = "[Desktop Entry]\nType=Application\nName=Viewer\n\(keys)\n"
        return ApplicationStarter(bus) {
            try LaunchEntry(DesktopEntry(KeyFile(text: text), at: "/viewer.desktop"), $0)
        }
    }

    /// A shell script in a file, since nothing that is opened may stand within a command line's quotes.
    private static func script(_ folder: TemporaryDirectory, _ text: String) throws -> String {
        try folder.write(text, to: "script")
    }

    @Test(
        "what opens a page or a file is given it, by its address or its path, and a token",
        arguments: [
            ("%u", "https://example.com/?a=$(b)&c", "https://example.com/?a=$(b)&c"),
            ("%U", "file:///tmp/a%20b", "file:///tmp/a%20b"), ("%f", "file:///tmp/a%20b", "/tmp/a b"),
            ("", "https://example.com/", "https://example.com/"), ("", "file:///tmp/a%20b", "/tmp/a b"),
        ])
    func opens(_ code: String, _ url: String, _ expected: String) async throws {
        let folder = try TemporaryDirectory()
        let result = folder.path("result")
        let script = try Self.script(
            folder, "printf '%s|%s|%s' \"$1\" \"$XDG_ACTIVATION_TOKEN\" \"$DESKTOP_STARTUP_ID\" > \(result)")
        try await onLoop {
            let bus = try await TestBus.start()
            let starter = try Self.starter(bus.connect(), "Exec=sh \(script) \(code)")
            try await starter.open(url, with: ApplicationID(Self.application), activationToken: "token_1")
            let written = try String(contentsOfFile: result, encoding: .utf8)
            #expect(written == "\(expected)|token_1|token_1")
        }
    }

    @Test(
        "a program that ends with an error instead of opening it has not opened it, and its last message is told"
    )
    func opensNothing() async throws {
        let folder = try TemporaryDirectory()
        let script = try Self.script(folder, "echo first >&2; echo 'no such page' >&2; exit 3")
        try await onLoop {
            let bus = try await TestBus.start()
            let starter = try Self.starter(bus.connect(), "Exec=sh \(script) %u")
            let failure = await #expect(throws: HandoffFailure.self) {
                try await starter.open(
                    "https://a/", with: ApplicationID(Self.application), activationToken: "")
            }
            #expect(failure?.code == .applicationFailed)
            #expect(failure?.message.contains("ended with status 3") == true)
            #expect(failure?.message.contains("no such page") == true)
        }
    }

    @Test("a program that crashes is said to have crashed, without numbers and words of systems")
    func crashes() async throws {
        let folder = try TemporaryDirectory()
        let script = try Self.script(folder, "ulimit -c 0; echo 'stack smashed' >&2; kill -ABRT $$")
        try await onLoop {
            let bus = try await TestBus.start()
            let starter = try Self.starter(bus.connect(), "Exec=sh \(script) %u")
            let failure = await #expect(throws: HandoffFailure.self) {
                try await starter.open(
                    "https://a/", with: ApplicationID(Self.application), activationToken: "")
            }
            #expect(failure?.code == .applicationFailed)
            #expect(failure?.message == "\(Self.application) has crashed. Start it and try again.")
        }
    }

    @Test("a program that runs on has opened it")
    func runsOn() async throws {
        let folder = try TemporaryDirectory()
        let script = try Self.script(folder, "exec sleep 3")
        try await onLoop {
            let bus = try await TestBus.start()
            let starter = try Self.starter(bus.connect(), "Exec=sh \(script) %u")
            try await starter.open("https://a/", with: ApplicationID(Self.application), activationToken: "")
        }
    }

    @Test(
        "what cannot run is refused at once, and it is said why",
        arguments: [
            ("Exec=/nonexistent/program %u", "is not installed"), ("Exec=true %x", "%x"),
            ("Exec=true %u\nPath=/nonexistent/folder", "/nonexistent/folder"),
            ("Exec=true %f", "not web pages"),
            ("Exec=true %u\nTerminal=true", "terminal"), ("Exec=true %u\nHidden=true", "not installed"),
        ])
    func refused(_ keys: String, _ reason: String) async throws {
        try await onLoop {
            let bus = try await TestBus.start()
            let starter = try Self.starter(bus.connect(), keys)
            let failure = await #expect(throws: HandoffFailure.self) {
                try await starter.open(
                    "https://a/", with: ApplicationID(Self.application), activationToken: "")
            }
            #expect(failure?.code == .applicationFailed && failure?.message.contains(reason) == true)
        }
    }

    @Test(
        "an application that the bus can start is asked to open it, at the object that its id makes, with the token"
    )
    func opensByBus() async throws {
        try await onLoop {
            let bus = try await TestBus.start()
            let viewer = try bus.connect()
            let opener = Opener()
            viewer.connection.policy = AllowAll()
            viewer.connection.objects.export("/com/example/viewer_two", [opener])
            _ = try await viewer.request(BusName(Self.application))
            let starter = try Self.starter(bus.connect(), "DBusActivatable=true")
            try await starter.open("https://a/", with: ApplicationID(Self.application), activationToken: "t")
            #expect(opener.opened == [["https://a/"]])
            #expect(
                opener.platformData == [
                    ["activation-token": .string("t"), "desktop-startup-id": .string("t")]
                ])
            opener.failure = DBusError.invalidArgs("no")
            await #expect(throws: HandoffFailure.self) {
                try await starter.open(
                    "https://a/", with: ApplicationID(Self.application), activationToken: "")
            }
        }
    }

    @Test("whoever wants an application that is being started gets the same start")
    func shared() async throws {
        let folder = try TemporaryDirectory()
        let result = folder.path("result")
        let script = try Self.script(folder, "echo started >> \(result); exec sleep 1")
        try await onLoop {
            let bus = try await TestBus.start()
            let starter = try Self.starter(bus.connect(), "Exec=sh \(script)")
            let id = try ApplicationID(Self.application)
            let starts = (0..<3).map { _ in
                MainLoop.start { try await starter.start(id, activationToken: "") }
            }
            for start in starts { try await start.value }
            #expect(try String(contentsOfFile: result, encoding: .utf8) == "started\n")
            // Once that one has ended, there can be another.
            try await starter.start(id, activationToken: "")
            #expect(try String(contentsOfFile: result, encoding: .utf8) == "started\nstarted\n")
        }
    }

    @Test(
        "a program has nothing of the broker but its environment: no descriptor, no blocked or ignored signal, no session"
    )
    func inherits() async throws {
        let folder = try TemporaryDirectory()
        let result = folder.path("result")
        let script = try Self.script(
            folder,
            """
            for number in /proc/self/fd/*; do readlink $number || true; done | grep -c -e socket -e inotify > \(result)
            # The C library keeps signals 32 and 33 for itself, and lets nobody change them.
            for mask in $(grep -e SigBlk -e SigIgn /proc/self/status | cut -f2); do
                echo $((0x$mask & ~0x180000000)) >> \(result)
            done
            test "$(cut -d' ' -f6 /proc/$$/stat)" = $$ && echo leader >> \(result)
            """)
        try await onLoop {
            let bus = try await TestBus.start()
            let starter = try Self.starter(bus.connect(), "Exec=sh \(script)")
            try await starter.start(ApplicationID(Self.application), activationToken: "")
            let written = try String(contentsOfFile: result, encoding: .utf8)
            #expect(written == "0\n0\n0\nleader\n")
        }
    }
}

/// `org.freedesktop.Application`, as far as it opens something.
@MainLoop
private final class Opener: InterfaceBinding {
    var opened: [[String]] = []
    var platformData: [[String: Value]] = []
    var failure: DBusError?

    static let description = InterfaceDescription(
        name: "org.freedesktop.Application",
        methods: [.init(name: "Open", input: "asa{sv}", access: "any")], properties: [],
        xml: "<interface name=\"org.freedesktop.Application\"/>")

    func handle(_ method: Int, _ call: MethodCall) throws -> Message {
        var reader = MessageReader(call.message)
        opened.append(try reader.read())
        platformData.append(try reader.read())
        if let failure { throw failure }
        return try call.reply()
    }

    func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError) {}
    func write(_ property: Int, from reader: inout MessageReader, _ call: MethodCall) throws {}
}
