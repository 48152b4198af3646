// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import Platform
import TestSupport

/// Lets everybody do everything.
@MainLoop
final class AllowAll: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision { .allow }
}

/// Decides by access class: `hidden` does not exist, `denied` is refused, the rest is allowed.
@MainLoop
final class ByClass: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision {
        switch request.access {
        case "hidden": .hide
        case "denied": .deny(.accessDenied("\(request.member) is denied."))
        default: .allow
        }
    }
}

/// An interface that notes what it is asked.
@MainLoop
final class CallLog: InterfaceBinding {
    private(set) var numbers: [UInt32] = []
    private(set) var callers: [Caller] = []
    /// The pauses that wait to be ended.
    private(set) var paused: [CheckedContinuation<Void, Never>] = []
    var onEffect: (@MainLoop () -> Void)?

    static let description = InterfaceDescription(
        name: "org.example.CallLog",
        methods: [
            .init(name: "Note", input: "u", access: "any"),
            .init(name: "Fail", input: "s", access: "any"),
            .init(name: "Pause", input: "", access: "any", waits: true),
            .init(name: "Effect", input: "", access: "any"),
            .init(name: "Echo", input: "s", access: "any"),
            .init(name: "Take", input: "h", access: "any"),
            .init(name: "Give", input: "", access: "any"),
            .init(name: "Swap", input: "hh", access: "any"),
            .init(name: "Secret", input: "", access: "hidden"),
            .init(name: "Private", input: "", access: "denied"),
            .init(name: "Odd", input: "", access: "any"),
            .init(name: "Any", input: "z", access: "any"),
        ], properties: [],
        xml: """
              <interface name="org.example.CallLog">
                <method name="Note"><arg type="u" direction="in"/><arg type="u" direction="out"/></method>
                <method name="Echo"><arg type="s" direction="in"/><arg type="s" direction="out"/></method>
                <signal name="Happened"><arg type="u"/></signal>
              </interface>

            """)

    /// Lets all paused calls go on.
    func resume() {
        for call in paused { call.resume() }
        paused = []
    }

    func handleWaiting(_ method: Int, _ call: MethodCall) async throws -> Message {
        callers.append(call.caller)
        await withCheckedContinuation { paused.append($0) }
        return try call.reply()
    }

    func handle(_ method: Int, _ call: MethodCall) throws -> Message {
        var reader = MessageReader(call.message)
        callers.append(call.caller)
        switch Self.description.methods[method].name {
        case "Note":
            let number: UInt32 = try reader.read()
            numbers.append(number)
            return try call.reply { (writer) throws(DBusError) in try writer.write(number) }
        case "Fail":
            let text: String = try reader.read()
            throw DBusError("org.example.Failed", text)
        case "Effect":
            call.afterReply { self.onEffect?() }
            return try call.reply()
        case "Echo":
            let text: String = try reader.read()
            return try call.reply { (writer) throws(DBusError) in try writer.write(text) }
        case "Take": return try take(reader.readFileDescriptor(), call)
        case "Give": return try give(call)
        case "Swap":
            let first = try reader.readFileDescriptor()
            return try exchange(first, reader.readFileDescriptor(), call)
        case "Odd":
            struct Odd: Error {}
            throw Odd()
        default: return try call.reply()
        }
    }

    /// Writes a byte into the descriptor and says what it refers to.
    private func take(_ descriptor: consuming FileDescriptor, _ call: MethodCall) throws -> Message {
        let number = UInt64(descriptor.number)
        try writeByte(to: descriptor.number)
        return try call.reply { (writer) throws(DBusError) in try writer.write(number) }
    }

    /// Gives both back, the other way around.
    private func exchange(
        _ first: consuming FileDescriptor, _ second: consuming FileDescriptor, _ call: MethodCall
    ) throws -> Message {
        let reply = try Message.reply(to: call.message)
        var writer = MessageWriter(reply)
        try writer.write(second)
        try writer.write(first)
        return reply
    }

    private(set) var given: OpenFile?

    private func give(_ call: MethodCall) throws -> Message {
        let pair = try FileDescriptor.socketPair()
        given = OpenFile(pair.theirs.number)
        try writeByte(to: pair.ours.number)
        let reply = try Message.reply(to: call.message)
        var writer = MessageWriter(reply)
        try writer.write(pair.theirs)
        return reply
    }

    func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError) {}
    func write(_ property: Int, from reader: inout MessageReader, _ call: MethodCall) throws {}
}

/// An interface with properties of every access.
@MainLoop
final class Settings: InterfaceBinding {
    var title = "first"
    var count: UInt32 = 1

    static let description = InterfaceDescription(
        name: "org.example.Settings", methods: [],
        properties: [
            .init(
                name: "Title", signature: "s", isReadable: true, isWritable: true, access: "any",
                writeAccess: "any"),
            .init(
                name: "Count", signature: "u", isReadable: true, isWritable: false, access: "any",
                writeAccess: "any"),
            .init(
                name: "Denied", signature: "s", isReadable: true, isWritable: true, access: "denied",
                writeAccess: "denied"),
            .init(
                name: "Hidden", signature: "s", isReadable: true, isWritable: true, access: "hidden",
                writeAccess: "hidden"),
            .init(
                name: "WriteOnly", signature: "s", isReadable: false, isWritable: true, access: "any",
                writeAccess: "any"),
            .init(
                name: "Tags", signature: "as", isReadable: true, isWritable: false, access: "any",
                writeAccess: "any"),
            .init(
                name: "Guarded", signature: "s", isReadable: true, isWritable: true, access: "any",
                writeAccess: "denied"),
        ],
        xml: """
              <interface name="org.example.Settings">
                <property name="Title" type="s" access="readwrite"/>
                <property name="Count" type="u" access="read"/>
                <property name="Tags" type="as" access="read"/>
              </interface>

            """)

    func handle(_ method: Int, _ call: MethodCall) throws -> Message { try call.reply() }

    func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError) {
        switch Self.description.properties[property].name {
        case "Count": try writer.write(count)
        case "Tags": try writer.write(["a", "b"])
        default: try writer.write(title)
        }
    }

    func write(_ property: Int, from reader: inout MessageReader, _ call: MethodCall) throws {
        let text: String = try reader.read()
        guard text != "refused" else { throw DBusError.invalidArgs("“refused” is not a title.") }
        title = text
    }
}

/// Two connections to a bus of their own: one serves objects, the other calls them.
@MainLoop
final class Pair {
    let bus: TestBus
    let server: Bus
    let client: Bus
    let log = CallLog()
    let settings = Settings()

    /// The objects: `/org/example/log`, `/org/example/deep/settings`.
    init(policy: (any AccessPolicy)? = AllowAll()) async throws {
        bus = try await TestBus.start()
        server = try bus.connect()
        client = try bus.connect()
        if let policy { server.connection.policy = policy }
        server.connection.objects.export("/org/example/log", [log])
        server.connection.objects.export("/org/example/deep/settings", [settings])
    }

    /// The object of the server at `path`, as the client sees it.
    func object(_ path: ObjectPath = "/org/example/log") -> RemoteObject {
        RemoteObject(client.connection, server.uniqueName, path)
    }

    /// Calls a method of ``CallLog`` without arguments.
    @discardableResult
    func call(
        _ member: MemberName, _ interface: InterfaceName = "org.example.CallLog",
        on path: ObjectPath = "/org/example/log", output: String = "", timeout: Duration = .seconds(20)
    ) async throws -> Message {
        try await object(path).call(interface, member, output: output, timeout: timeout) {
            (_) throws(DBusError) in
        }
    }

    /// The name of the error that a call ends with, nil for none.
    func error(_ body: @MainLoop () async throws -> Void) async -> ErrorName? {
        do {
            try await body()
            return nil
        } catch {
            return DBusError.converting(error).name
        }
    }
}
