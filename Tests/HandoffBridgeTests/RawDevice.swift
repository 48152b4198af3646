// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport

@testable import HandoffBridge

/// A device without a bridge: it has a key, and a TLS connection over which it sends whatever bytes it likes.
@MainLoop
final class RawDevice {
    let identity: Identity
    private(set) var isClosed = false
    private(set) var messages: [Message] = []
    private var transport: TLSConnection?
    private var source: AnyObject?
    private var framer = RawDevice.makeFramer()
    private var serial: UInt32 = 0
    /// Whether it reads what it is sent.
    var isReading = true
    /// The device is kept alive here, since its bridge ends with it.
    private var host: TestDevice?

    init() throws { identity = try Identity(pem: KeyMaker.makeIdentity()) }

    isolated deinit { close() }

    var id: DeviceID { identity.device }

    /// Completes TLS with `device`.
    func connect(to device: TestDevice) async throws {
        host = device
        // What came over a former link does not count as an answer on this one.
        (messages, isClosed) = ([], false)
        framer = Self.makeFramer()
        guard let address = NetworkAddress(device.address) else { throw TestFailure("no address") }
        let socket = try await SocketConnection.connect(to: address)
        try await Opening().dial(
            socket, as: identity.device, secrets: [PeerSecret(trustBetween: id, and: device.id)])
        let transport = try await TLSConnection.establish(.client, over: socket, as: identity)
        self.transport = transport
        source = transport.whenReadable { [weak self] in self?.read() }
    }

    /// Completes TLS with `device`, says Hello as a device that trusts it, and has its Hello answered.
    ///
    /// Where the machine is so busy that the device has waited for the opening for too long, it is tried again.
    func link(to device: TestDevice) async throws {
        for attempt in 1...3 {
            do {
                try await connect(to: device)
                break
            } catch {
                if attempt == 3 { throw error }
                close()
            }
        }
        try send(hello())
        try await eventually {
            messages.contains { $0.kind == .reply } && messages.contains { $0.kind == .call }
        }
        try answerAll()
    }

    func close() {
        source = nil
        transport?.close()
        transport = nil
    }

    // MARK: Sending

    func hello(paired: Bool = true, version: UInt32 = 1) throws -> Message {
        let message = try Message.call(to: nil, "/", "org.example.Handoff.Link", "Hello")
        var writer = MessageWriter(message)
        try writer.write(version)
        try writer.write(["Paired": Value.boolean(paired)])
        return message
    }

    /// Sends a message under the next serial number, which is returned.
    @discardableResult
    func send(_ message: Message) throws -> UInt32 {
        serial += 1
        message.setSerial(serial)
        send(try message.marshal())
        return serial
    }

    /// Sends bytes, all of which the kernel must have room for.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty, let transport {
            guard case .bytes(let count) = rest.withUnsafeBytes({ transport.write($0) }) else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Calls `member` with the arguments that `body` writes, and waits for the answer or the end of the
    /// connection.
    func call(
        _ interface: InterfaceName, _ member: MemberName,
        _ body: (inout MessageWriter) throws(DBusError) -> Void = { (_) throws(DBusError) in }
    ) async throws -> Message? {
        let message = try Message.call(to: nil, "/", interface, member)
        var writer = MessageWriter(message)
        try body(&writer)
        let serial = try send(message)
        try await eventually { isClosed || answer(to: serial) != nil }
        return answer(to: serial)
    }

    func answer(to serial: UInt32) -> Message? { messages.first { $0.replySerial == serial } }

    /// Gives an empty answer to every call that has come.
    private func answerAll() throws {
        for call in messages where call.kind == .call { try send(Message.reply(to: call)) }
    }

    // MARK: Receiving

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        guard isReading else {
            source = nil
            return
        }
        while let transport {
            switch buffer.withUnsafeMutableBytes({ transport.read(into: $0) }) {
            case .bytes(let count): framer.add(buffer[..<count])
            case .wouldBlock: return take()
            case .ended, .failed:
                take()
                isClosed = true
                return close()
            }
        }
    }

    /// It takes whatever a device may send.
    private static func makeFramer() -> Framer {
        Framer(Framer.Limits(header: LinkRules.maximumHeader, message: 1 << 20))
    }

    private func take() {
        while let message = try? framer.next(), (try? message.checkBody()) != nil {
            messages.append(message)
        }
    }
}
