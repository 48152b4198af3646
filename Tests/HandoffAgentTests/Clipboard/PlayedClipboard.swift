// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import HandoffInterfaces
import MainLoop

@testable import HandoffAgent

/// A clipboard that a test fills.
@MainLoop
final class PlayedWay: ClipboardBackend {
    let name = "Played"
    weak var user: (any ClipboardUser)?
    var isThere = true
    var isReached = true
    /// Done before what is read is given.
    var onRead: @MainLoop () -> Void = {}
    var contents: [String: [UInt8]] = [:]
    private(set) var reads: [String] = []
    private(set) var owned: (types: [String], provide: ClipboardProvider)?
    private(set) var disowned = 0
    private(set) var hasEnded = false

    func begin() async -> Bool { isThere }
    func end() { hasEnded = true }

    func read(_ type: String) async throws -> ClipboardFile {
        reads.append(type)
        guard let bytes = contents[type] else { throw HandoffFailure.clipboardEmpty }
        onRead()
        return try ClipboardFile(bytes)
    }

    func own(_ types: [String], _ provide: @escaping ClipboardProvider) async -> Bool {
        owned = isReached ? (types, provide) : nil
        return isReached
    }
    func disown() { (owned, disowned) = (nil, disowned + 1) }

    func copy(_ contents: [String: [UInt8]], isNew: Bool = true) {
        (self.contents, owned) = (contents, nil)
        user?.clipboardChanged(contents.keys.sorted(), isNew: isNew)
    }

    /// What a program gets that pastes.
    func paste(_ type: String) async -> [UInt8]? { try? await owned?.provide(type)?.bytes() }
}

@MainLoop
final class Lock { var isOpen = true }

@MainLoop
final class PlayedFocus: FocusSource {
    var window: FocusedWindow?
    var isTelling = true
    var onFocusChange: (@MainLoop () -> Void)?
}

/// The broker, as far as it has to do with this.
@MainLoop
final class PlayedBroker: ClipboardServer {
    let desktop = ""
    private(set) var registered: [String] = []
    private(set) var unregistered = 0
    private(set) var changes: [[String]] = []
    private(set) var reads: [String] = []
    private var answers = 0
    /// How many were read at a time.
    private(set) var most = 0
    var content: [UInt8]? = Array("theirs".utf8)

    func paste(deviceId: String, _ call: MethodCall) async throws -> [String: Value] { [:] }
    func send(deviceId: String, _ call: MethodCall) async throws -> [String: Value] { [:] }

    func sendContent(
        deviceId: String, contents: [Structure<String, UInt64>], content: consuming FileDescriptor,
        _ call: MethodCall
    ) async throws -> [String: Value] { [:] }

    func read(deviceId: String, type: String, _ call: MethodCall) async throws -> ClipboardReadReply {
        throw HandoffFailure.clipboardEmpty
    }

    func readFollowed(
        deviceId: String, type: String, _ call: MethodCall
    ) async throws -> ClipboardReadFollowedReply {
        reads.append(type)
        most = max(most, reads.count - answers)
        defer { answers += 1 }
        await Task.yield()
        guard let content else { throw HandoffFailure.clipboardEmpty }
        return ClipboardReadFollowedReply(
            contents: [Structure(type, UInt64(content.count))],
            content: try ClipboardFile(content).handedOut())
    }

    func register(clipboard: ObjectPath, desktop: String, _ call: MethodCall) throws {
        registered.append(desktop)
    }

    func unregister(_ call: MethodCall) throws { unregistered += 1 }
    func changed(types: [String], _ call: MethodCall) throws { changes.append(types) }
}
