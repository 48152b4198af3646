// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
internal import Glibc
package import MainLoop

/// A message bus within this process, without a daemon and without sockets: what is called is done in the order of the
/// calls, in later turns of the main loop.
///
/// It does what ``Bus`` asks of a bus (D-Bus Specification, "Message Bus Specification"), and starts no services. Messages
/// cross it as bytes, so what cannot be sent fails here too.
@MainLoop
package final class MemoryBus {
    private struct Ownership {
        let end: MemoryChannel
        let isReplaceable: Bool
    }

    private var ends: [BusName: MemoryChannel] = [:]
    private var names: [BusName: Ownership] = [:]
    private var latest = 0
    private var serial: UInt32 = 0
    /// Called with each message that its connections send, before that is passed on.
    package var onMessage: (@MainLoop (Message) -> Void)?

    /// A bus that nobody is on yet.
    package nonisolated init() {}

    /// A new connection to it, which counts as one of a program in `sandbox`, or in none.
    package func connect(in sandbox: Sandbox? = nil) -> Bus { Bus(newEnd(in: sandbox)) }

    func newEnd(in sandbox: Sandbox?) -> MemoryChannel {
        latest += 1
        let end = MemoryChannel(self, BusName(validated: ":1.\(latest)"), sandbox)
        ends[end.name] = end
        announce(end.name, from: nil, to: end)
        return end
    }

    /// Ends all connections, as the end of a bus's daemon does.
    package func end() {
        let former = ends.values
        (ends, names) = ([:], [:])
        for end in former { end.lost() }
    }

    func sandbox(of name: BusName) -> Sandbox? { ends[name]?.sandbox }

    /// `end` has left.
    func left(_ end: MemoryChannel) {
        guard ends.removeValue(forKey: end.name) != nil else { return }
        for name in names.filter({ $1.end === end }).keys.sorted() { giveUp(name) }
        announce(end.name, from: end, to: nil)
        for call in end.unanswered {
            refuse(call, DBusError(.noReply, "\(end.name) has left the bus without an answer."))
        }
    }

    // MARK: Passing messages on

    /// Passes `message` on, which says that it is from `end`.
    func pass(_ message: Message, from end: MemoryChannel) throws(DBusError) {
        onMessage?(message)
        guard let destination = message.destination else {
            if message.kind == .signal { try tell(message, of: end.name) }
            return
        }
        guard destination != Bus.name.text else { return serve(message, of: end) }
        guard let receiver = owner(of: destination) else {
            return refuse(message, DBusError(.serviceUnknown, "Nobody on this bus is called \(destination)."))
        }
        if message.kind == .call, message.wantsReply { receiver.unanswered.append(message) }
        if message.replySerial != 0 {
            end.unanswered.removeAll { $0.serial == message.replySerial && $0.sender == receiver.name }
        }
        try receiver.take(message)
    }

    private func owner(of text: String) -> MemoryChannel? {
        guard let name = try? BusName(text) else { return nil }
        return ends[name] ?? names[name]?.end
    }

    /// Hands `signal` to whoever has asked for such.
    private func tell(_ signal: Message, of sender: BusName) throws(DBusError) {
        let senders = [sender.text] + names.filter { $1.end.name == sender }.map(\.key.text)
        for end in ends.values.sorted(by: { $0.name < $1.name })
        where end.rules.contains(where: { Self.matches($0, signal, senders) }) {
            try end.take(signal)
        }
    }

    /// Whether `rule`, as a ``MatchRule`` is written, matches `signal` of the connection with these names.
    private static func matches(_ rule: String, _ signal: Message, _ senders: [String]) -> Bool {
        rule.split(separator: ",").allSatisfy { part in
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, pair[1].count >= 2 else { return false }
            let value = String(pair[1].dropFirst().dropLast())
            switch pair[0] {
            case "type": return value == "signal"
            case "sender": return senders.contains(value)
            case "interface": return signal.interface == value
            case "member": return signal.member == value
            case "path": return signal.path?.text == value
            case "arg0": return firstArgument(of: signal) == value
            case "arg0namespace":
                return firstArgument(of: signal).map { $0 == value || $0.hasPrefix(value + ".") } ?? false
            default: return false
            }
        }
    }

    private static func firstArgument(of signal: Message) -> String? {
        guard signal.signature.first == "s" else { return nil }
        var reader = MessageReader(signal)
        return try? reader.read()
    }

    // MARK: What the bus itself is asked

    private func serve(_ message: Message, of end: MemoryChannel) {
        guard message.kind == .call else { return }
        do throws(DBusError) {
            let reply = try answer(message, of: end)
            if message.wantsReply { try send(reply, to: end) }
        } catch {
            refuse(message, error)
        }
    }

    private func answer(_ call: Message, of end: MemoryChannel) throws(DBusError) -> Message {
        let reply = try Message.reply(to: call)
        var (reader, writer) = (MessageReader(call), MessageWriter(reply))
        let text: String = try reader.read()
        switch call.member {
        case "AddMatch": end.rules.append(text)
        case "RemoveMatch":
            guard let index = end.rules.firstIndex(of: text) else {
                throw DBusError(.failed, "There is no such match rule.")
            }
            end.rules.remove(at: index)
        case "RequestName":
            try writer.write(UInt32(request(try BusName(text), try reader.read(), of: end)))
        case "ReleaseName":
            let name = try BusName(text)
            guard names[name]?.end === end else {
                try writer.write(UInt32(DBUS_RELEASE_NAME_REPLY_NOT_OWNER))
                break
            }
            giveUp(name)
            try writer.write(UInt32(DBUS_RELEASE_NAME_REPLY_RELEASED))
        case "GetNameOwner": try writer.write(try requireOwner(of: text).name.text)
        case "GetConnectionCredentials":
            guard try requireOwner(of: text).sandbox != .unknown else {
                throw DBusError(.failed, "This bus does not say who \(text) is.")
            }
            try writer.write(
                ["UnixUserID": .uint32(getuid()), "ProcessID": .uint32(UInt32(getpid()))] as [String: Value])
        case "StartServiceByName":
            guard owner(of: text) != nil else {
                throw DBusError(.serviceUnknown, "This bus starts no services, and \(text) does not run.")
            }
            try writer.write(UInt32(DBUS_START_REPLY_ALREADY_RUNNING))
        default: throw DBusError(.unknownMethod, "This bus does not know \(call.member ?? "that").")
        }
        return reply
    }

    private func requireOwner(of name: String) throws(DBusError) -> MemoryChannel {
        guard let owner = owner(of: name) else {
            throw DBusError(.nameHasNoOwner, "Nobody on this bus is called \(name).")
        }
        return owner
    }

    private func request(_ name: BusName, _ flags: UInt32, of end: MemoryChannel) -> Int32 {
        let former = names[name]
        if former?.end === end { return DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER }
        if let former {
            guard former.isReplaceable, flags & UInt32(DBUS_NAME_FLAG_REPLACE_EXISTING) != 0 else {
                return DBUS_REQUEST_NAME_REPLY_EXISTS
            }
            say("NameLost", [name.text], to: former.end)
        }
        let isReplaceable = flags & UInt32(DBUS_NAME_FLAG_ALLOW_REPLACEMENT) != 0
        names[name] = Ownership(end: end, isReplaceable: isReplaceable)
        announce(name, from: former?.end, to: end)
        return DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER
    }

    private func giveUp(_ name: BusName) {
        guard let former = names.removeValue(forKey: name) else { return }
        announce(name, from: former.end, to: nil)
    }

    /// Tells whoever asked for that that `name` has another owner.
    private func announce(_ name: BusName, from former: MemoryChannel?, to new: MemoryChannel?) {
        say("NameOwnerChanged", [name.text, former?.name.text ?? "", new?.name.text ?? ""], to: nil)
    }

    /// Emits a signal of the bus to `end`, or to whoever has asked for such.
    private func say(_ member: MemberName, _ arguments: [String], to end: MemoryChannel?) {
        do throws(DBusError) {
            let signal = try Message.signal(from: "/org/freedesktop/DBus", .bus, member)
            var writer = MessageWriter(signal)
            for argument in arguments { try writer.write(argument) }
            if let end {
                try signal.setDestination(end.name)
                return try send(signal, to: end)
            }
            sign(signal)
            try tell(signal, of: Bus.name)
        } catch {
            return
        }
    }

    private func refuse(_ call: Message, _ error: DBusError) {
        guard call.kind == .call, call.wantsReply, let end = call.sender.flatMap({ ends[$0] }) else { return }
        do throws(DBusError) { try send(try Message.error(error, to: call), to: end) } catch { return }
    }

    private func send(_ message: Message, to end: MemoryChannel) throws(DBusError) {
        sign(message)
        try end.take(message)
    }

    private func sign(_ message: Message) {
        serial = serial == .max ? 1 : serial + 1
        message.setSerial(serial)
        message.setSender(Bus.name)
    }
}

/// One end of a ``MemoryBus``.
@MainLoop
final class MemoryChannel: BusChannel {
    let name: BusName
    let sandbox: Sandbox?
    /// What its ``Bus`` has asked to be told of.
    var rules: [String] = []
    /// What it was called and has not answered.
    var unanswered: [Message] = []
    let isCrowded = false

    weak var connection: Connection?
    private let bus: MemoryBus
    private var framer = Framer(BusEnd.limits.frames)
    private var isReading = false
    private var isClosed = false
    private var serial: UInt32 = 0

    init(_ bus: MemoryBus, _ name: BusName, _ sandbox: Sandbox?) {
        (self.bus, self.name, self.sandbox) = (bus, name, sandbox)
    }

    func send(_ message: Message) throws(DBusError) -> UInt32 {
        guard !isClosed else { throw DBusError(.disconnected, "The connection has ended.") }
        if message.serial == 0 {
            serial = serial == .max ? 1 : serial + 1
            message.setSerial(serial)
        }
        message.setSender(name)
        try bus.pass(message, from: self)
        return message.serial
    }

    func sandbox(of name: BusName, _ credentials: Credentials) -> Sandbox? { bus.sandbox(of: name) }

    /// Takes what the bus has for this end.
    func take(_ message: Message) throws(DBusError) {
        let bytes = try message.marshal()
        let descriptors = message.takeDescriptors()
        bytes.withUnsafeBytes { framer.add($0, descriptors) }
        guard !isReading else { return }
        isReading = true
        MainLoop.start { [weak self] in self?.read() }
    }

    private func read() {
        isReading = false
        do throws(DBusError) {
            while !isClosed, let message = try framer.next() { connection?.received(message) }
        } catch {
            close()
            connection?.closed(error)
        }
        CallTurns.shared.heard()
    }

    /// The bus has ended.
    func lost() {
        isClosed = true
        MainLoop.start { [connection] in
            connection?.closed(DBusError(.disconnected, "The bus has closed the connection."))
        }
    }

    func flush(until deadline: Int64) {}

    func close() {
        guard !isClosed else { return }
        isClosed = true
        bus.left(self)
    }
}
