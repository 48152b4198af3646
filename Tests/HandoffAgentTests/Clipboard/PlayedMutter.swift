// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import MainLoop
import Testing

/// Mutter as far as it has a clipboard for other programs: it makes sessions, one at a time.
@MainLoop
final class PlayedMutter: InterfaceBinding {
    static let service: BusName = "org.gnome.Mutter.RemoteDesktop"
    static let description = InterfaceDescription(
        name: "org.gnome.Mutter.RemoteDesktop",
        methods: [.init(name: "CreateSession", input: "", access: "any")],
        properties: [], xml: "")

    /// Whether it makes no sessions, as while the screen is locked.
    var isInhibited = false
    /// What another program has in the clipboard when a session begins to follow it; nil if there is nothing.
    var types: [String]? = ["text/html"]
    /// The latest session that was made.
    private(set) var session: PlayedSession?
    private unowned let connection: Connection
    private var sessions = 0

    /// Serves it on `bus`, which has to own its name.
    init(_ bus: Bus) {
        connection = bus.connection
        connection.policy = Everybody()
        connection.objects.export("/org/gnome/Mutter/RemoteDesktop", [self])
    }

    func handle(_ method: Int, _ call: MethodCall) throws -> Message {
        guard !isInhibited else { throw DBusError(.accessDenied, "Session creation inhibited") }
        sessions += 1
        let path = try ObjectPath("/org/gnome/Mutter/RemoteDesktop/Session/u\(sessions)")
        let made = PlayedSession(connection, path, types)
        connection.objects.export(path, [made])
        session = made
        return try call.reply { (writer) throws(DBusError) in try writer.write(path) }
    }

    func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError) {}
    func write(_ property: Int, from reader: inout MessageReader, _ call: MethodCall) throws {}
}

/// A session of ``PlayedMutter``.
@MainLoop
final class PlayedSession: InterfaceBinding {
    static let description = InterfaceDescription(
        name: "org.gnome.Mutter.RemoteDesktop.Session",
        methods: [
            .init(name: "EnableClipboard", input: "a{sv}", access: "any"),
            .init(name: "DisableClipboard", input: "", access: "any"),
            .init(name: "SetSelection", input: "a{sv}", access: "any"),
            .init(name: "SelectionRead", input: "s", access: "any"),
            .init(name: "SelectionWrite", input: "u", access: "any"),
            .init(name: "SelectionWriteDone", input: "ub", access: "any"),
        ], properties: [], xml: "")

    let path: ObjectPath
    /// What was called.
    private(set) var called: [String] = []
    /// What was read, as types.
    private(set) var asked: [String] = []
    /// Whether something is being read.
    var isRead: Bool { reading != nil }
    /// By the serial of a transfer, whether all was written.
    private(set) var ended: [UInt32: Bool] = [:]
    private unowned let connection: Connection
    private let types: [String]?
    private var reading: Int32?
    private var written: [UInt32: Int32] = [:]

    init(_ connection: Connection, _ path: ObjectPath, _ types: [String]?) {
        (self.connection, self.path, self.types) = (connection, path, types)
    }

    isolated deinit {
        if let reading { close(reading) }
        for number in written.values { close(number) }
    }

    // MARK: What it tells

    /// Tells that the clipboard has another owner.
    func tellOwner(_ types: [String]?, isOurs: Bool = false) throws {
        var options: [String: Value] = [:]
        if let types {
            options["mime-types"] = try .structure([.strings(types)])
            options["session-is-owner"] = .boolean(isOurs)
        }
        let told = options
        try emit(on: connection, path, "SelectionOwnerChanged") { (writer) throws(DBusError) in
            try writer.write(told)
        }
    }

    /// Wants what is ours.
    func want(_ type: String, _ serial: UInt32) throws {
        try emit(on: connection, path, "SelectionTransfer") { (writer) throws(DBusError) in
            try writer.write(type)
            try writer.write(serial)
        }
    }

    /// Ends, as when the screen is locked.
    func end() throws {
        connection.objects.unexport(path)
        try emit(on: connection, path, "Closed") { (_) throws(DBusError) in }
    }

    // MARK: What is read and written

    /// Gives what is being read.
    func give(_ text: String) throws {
        let number = try #require(reading)
        reading = nil
        let bytes = Array(text.utf8)
        #expect(Glibc.write(number, bytes, bytes.count) == bytes.count)
        close(number)
    }

    /// What was written in a transfer that has ended.
    func text(_ serial: UInt32) throws -> String {
        let number = try #require(written[serial])
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = Glibc.read(number, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    // MARK: What it is asked

    func handle(_ method: Int, _ call: MethodCall) throws -> Message {
        let name = Self.description.methods[method].name
        called.append(name)
        var reader = MessageReader(call.message)
        switch name {
        case "EnableClipboard":
            if let types { try tellOwner(types) }
        case "SetSelection":
            let options: [String: Value] = try reader.read()
            guard let types = options["mime-types"]?.strings else {
                try tellOwner(nil)
                break
            }
            try tellOwner(types, isOurs: true)
            try want(types.first ?? "", 1)
        case "SelectionRead":
            guard reading == nil else { throw DBusError(.limitsExceeded, "Tried to read in parallel") }
            let type: String = try reader.read()
            guard type != "none" else { throw DBusError(.failed, "No selection owner available") }
            asked.append(type)
            return try open(call) { reading = $0 }
        case "SelectionWrite":
            let serial: UInt32 = try reader.read()
            return try open(call) { written[serial] = $0 }
        case "SelectionWriteDone":
            let serial: UInt32 = try reader.read()
            ended[serial] = try reader.read()
        default: break
        }
        return try call.reply()
    }

    /// Answers `call` with one end, which does not block.
    private func open(_ call: MethodCall, _ keep: (Int32) -> Void) throws -> Message {
        let pair = try FileDescriptor.socketPair()
        #expect(fcntl(pair.theirs.number, F_SETFL, O_NONBLOCK) == 0)
        let reply = try Message.reply(to: call.message)
        var writer = MessageWriter(reply)
        try writer.write(pair.theirs)
        keep(pair.ours.take())
        return reply
    }

    func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError) {}
    func write(_ property: Int, from reader: inout MessageReader, _ call: MethodCall) throws {}
}

/// Emits a signal of a session, to `destination` alone or to whoever has asked for it.
@MainLoop
func emit(
    on connection: Connection, _ path: ObjectPath, _ member: MemberName, to destination: BusName? = nil,
    _ body: (inout MessageWriter) throws(DBusError) -> Void
) throws(DBusError) {
    let signal = try Message.signal(from: path, PlayedSession.description.name, member)
    if let destination { try signal.setDestination(destination) }
    var writer = MessageWriter(signal)
    try body(&writer)
    try connection.send(signal)
}

/// Lets everybody do everything.
@MainLoop
private final class Everybody: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision { .allow }
}
