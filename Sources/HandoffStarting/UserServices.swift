// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import MainLoop
internal import Platform

/// The user's own systemd (org.freedesktop.systemd1(5)), where there is one on the session bus. What it starts is not in
/// this process's control group, and so does not end with this process.
@MainLoop
final class UserServices {
    private let bus: Bus
    private let log: Log
    /// The programs whose ends are waited for, by their units' objects.
    private var followed: [ObjectPath: StartedProgram] = [:]
    private var manager: BusName?
    private var token: SignalToken?

    private nonisolated static let name: BusName = "org.freedesktop.systemd1"
    private static let path: ObjectPath = "/org/freedesktop/systemd1"
    private static let managerInterface: InterfaceName = "org.freedesktop.systemd1.Manager"
    private nonisolated static let service = "org.freedesktop.systemd1.Service"
    private nonisolated static let unit = "org.freedesktop.systemd1.Unit"

    init(_ bus: Bus, _ log: Log) { (self.bus, self.log) = (bus, log) }

    /// Whether there is one. Who has taken its name from within a sandbox is none.
    func isThere() async -> Bool {
        let owner = try? await bus.identifiedOwner(of: Self.name)
        manager = owner.flatMap { Self.isTrusted($0) ? $0.name : nil }
        if owner != nil, manager == nil {
            log.warning(
                "The owner of the bus name \(Self.name) runs in a sandbox, or it cannot be found out that it does not:"
                    + " applications are started without it.")
        }
        return manager != nil
    }

    /// A manager with rights that this process lacks cannot be looked at, but then this process is one of its services, or
    /// was left to it.
    private static func isTrusted(_ owner: Caller) -> Bool {
        owner.sandbox == nil || owner.credentials?.processID.map { Int32(exactly: $0) == getppid() } == true
    }

    /// Starts a program in a unit of its own. `program` is told when it ends, until ``forget(_:)``.
    /// - Returns: the unit's object.
    /// - Throws: if systemd refuses.
    func start(
        _ launch: Launch, _ name: UnitName, errors: consuming FileDescriptor, _ program: StartedProgram
    ) async throws -> ObjectPath {
        let unit = try Self.path.appending("unit").appending(name.pathElement)
        follow(unit, program)
        do {
            do {
                try await start(launch, name, errors, isGroupCounted: true)
            } catch let error as DBusError
                where error.name.text == "org.freedesktop.DBus.Error.PropertyReadOnly"
            {
                // That is what systemd before 250 says of a property that it does not know.
                try await start(launch, name, errors, isGroupCounted: false)
            }
        } catch {
            forget(unit)
            throw error
        }
        return unit
    }

    /// - Parameter isGroupCounted: whether the unit lives as long as any process in it, and not as long as the first.
    private func start(
        _ launch: Launch, _ name: UnitName, _ errors: borrowing FileDescriptor, isGroupCounted: Bool
    ) async throws {
        guard let manager = self.manager else { throw DBusError(.failed, "The user's systemd is gone.") }
        let object = RemoteObject(bus.connection, manager, Self.path)
        let properties = try properties(launch, isGroupCounted)
        _ = try await object.call(Self.managerInterface, "StartTransientUnit", output: "o") {
            (writer) throws(DBusError) in
            try writer.write(name.description)
            try writer.write("fail")
            try writer.array(of: Signature("(sv)")) { (writer) throws(DBusError) in
                for (name, value) in properties {
                    try writer.structure(of: Signature("sv")) { (writer) throws(DBusError) in
                        try writer.write(name)
                        try writer.write(value)
                    }
                }
                try writer.structure(of: Signature("sv")) { (writer) throws(DBusError) in
                    try writer.write("StandardErrorFileDescriptor")
                    try writer.variant(Signature("h")) { (writer) throws(DBusError) in
                        try writer.write(errors)
                    }
                }
            }
            try writer.array(of: Signature("(sa(sv))")) { (_) throws(DBusError) in }
        }
    }

    private func properties(_ launch: Launch, _ isGroupCounted: Bool) throws -> [(String, Value)] {
        // Otherwise systemd would replace what looks like a variable.
        let arguments = launch.arguments.map { $0.split(separator: "$", omittingEmptySubsequences: false) }
            .map { $0.joined(separator: "$$") }
        let command = try Value.structure([.string(launch.program), .strings(arguments), .boolean(false)])
        var properties: [(String, Value)] = [
            ("Description", .string("\(launch.application), started by Handoff")),
            ("Slice", .string("app.slice")),
            // A program that cannot be executed makes the start fail.
            ("Type", .string("exec")),
            ("CollectMode", .string("inactive-or-failed")),
            ("ExecStart", try .array(of: "(sasb)", [command])),
            (
                "Environment",
                .strings(launch.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
            ),
            isGroupCounted ? ("ExitType", .string("cgroup")) : ("KillMode", .string("process")),
        ]
        if let folder = launch.folder { properties.append(("WorkingDirectory", .string(folder))) }
        return properties
    }

    // MARK: Ends

    /// The end of this unit no longer matters.
    func forget(_ unit: ObjectPath) {
        guard followed.removeValue(forKey: unit) != nil else { return }
        bus.removeMatch(Self.changes(of: unit))
        if followed.isEmpty {
            token = nil
            post("Unsubscribe")
        }
    }

    private func follow(_ unit: ObjectPath, _ program: StartedProgram) {
        bus.addMatch(Self.changes(of: unit))
        if followed.isEmpty {
            token = bus.connection.onSignal(.properties, "PropertiesChanged") { [weak self] in
                self?.changed($0)
            }
            // Until somebody subscribes, it tells nobody anything.
            post("Subscribe")
        }
        followed[unit] = program
    }

    private static func changes(of unit: ObjectPath) -> MatchRule {
        MatchRule(sender: name, interface: .properties, member: "PropertiesChanged", path: unit)
    }

    private func post(_ member: MemberName) {
        guard let manager else { return }
        try? RemoteObject(bus.connection, manager, Self.path).post(Self.managerInterface, member) {
            (_) throws(DBusError) in
        }
    }

    private func changed(_ signal: Message) {
        guard let path = signal.path, let program = followed[path], signal.sender == manager else { return }
        var reader = MessageReader(signal)
        guard let interface: String = try? reader.read(), let changed: [String: Value] = try? reader.read(),
            let end = Self.end(interface, changed)
        else { return }
        program.ended(end)
    }

    /// How the program of a unit has ended, according to what has changed about the unit; nil if it has not.
    nonisolated static func end(_ interface: String, _ changed: [String: Value]) -> ProgramEnd? {
        switch interface {
        case service:
            guard case .int32(let code)? = changed["ExecMainCode"],
                case .int32(let status)? = changed["ExecMainStatus"]
            else { return nil }
            // These are the codes of waitid(2): it exited, was killed, or dumped core.
            return switch code {
            case 1: .exited(status)
            case 2, 3: .signalled(status)
            default: nil
            }
        case unit:
            guard changed["ActiveState"]?.string == "failed" else { return nil }
            return .failed("its unit failed")
        default: return nil
        }
    }
}
