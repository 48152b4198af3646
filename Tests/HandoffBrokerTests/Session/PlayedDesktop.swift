// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport

@testable import HandoffTesting

/// Whoever reads and writes the clipboard of a device for its broker, and its user.
@MainLoop
final class PlayedDesktop: DesktopClipboardServer {
    /// What is in the clipboard.
    var contents: [(kind: ClipboardKind, bytes: [UInt8])] = []
    /// What reading fails with.
    var failure: HandoffFailure?
    /// Waited for before what is read is given.
    var pause: @MainLoop () async -> Void = {}
    /// What the broker wanted, in order.
    private(set) var reads: [String] = []
    private(set) var writes: [(device: String, content: ClipboardContent)] = []
    private(set) var follows: [(device: String, types: [String], age: Int64)] = []
    private(set) var asks: [[String]] = []
    let proxy: ClipboardProxy
    let preferences: PreferencesProxy
    let manager: ManagerProxy
    let bus: Bus

    init(_ device: TestDevice, registered: Bool = true, in sandbox: Sandbox? = nil) async throws {
        bus = device.bus.connect(in: sandbox)
        bus.connection.policy = AllowAll()
        let broker = RemoteObject(bus.connection, HandoffNames.broker, HandoffNames.brokerPath)
        (proxy, preferences, manager) = (
            ClipboardProxy(broker), PreferencesProxy(broker), ManagerProxy(broker)
        )
        bus.connection.objects.export("/clipboard", [DesktopClipboardBinding(self)])
        TestEnds.add { [bus] in bus.connection.objects.unexport("/clipboard") }
        if registered { try await proxy.register(clipboard: "/clipboard", desktop: "Played") }
    }

    /// Somebody copies this.
    func copy(_ text: String) async throws {
        contents = [(.text, Array(text.utf8))]
        try await proxy.changed(types: ["text/plain"])
    }

    func read(type: String, _ call: MethodCall) async throws -> DesktopClipboardReadReply {
        reads.append(type)
        await pause()
        if let failure { throw failure }
        let wanted = contents.filter { type.isEmpty || $0.kind.rawValue == type }
        guard !wanted.isEmpty else { throw HandoffFailure.clipboardEmpty }
        let content = try ClipboardContent(try wanted.map { ($0.kind, try ClipboardFile($0.bytes)) })
        return DesktopClipboardReadReply(
            contents: content.contents, content: try content.file.handedOut())
    }

    func write(
        deviceId: String, contents: [Structure<String, UInt64>], content: consuming FileDescriptor,
        _ call: MethodCall
    ) async throws {
        if let failure { throw failure }
        writes.append((deviceId, try ClipboardContent(contents, content)))
    }

    func follow(deviceId: String, types: [String], age: Int64, _ call: MethodCall) async throws {
        follows.append((deviceId, types, age))
    }

    func ask(deviceId: String, types: [String], _ call: MethodCall) throws {
        if let failure { throw failure }
        asks.append(types)
    }
}
