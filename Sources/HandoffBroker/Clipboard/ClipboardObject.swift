// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// `org.example.Handoff.Clipboard`: pasting from other devices, and whoever reaches the clipboard here.
@MainLoop
final class ClipboardObject: ClipboardServer {
    private let clipboards: Clipboards
    private let peers: Peers

    private let welcome: @MainLoop (BusName) -> Void

    /// `welcome` is called with who registers, who is to be told things again if that was given up.
    init(_ clipboards: Clipboards, _ peers: Peers, welcome: @escaping @MainLoop (BusName) -> Void) {
        (self.clipboards, self.peers, self.welcome) = (clipboards, peers, welcome)
    }

    var desktop: String { clipboards.desktopName }

    func paste(deviceId: String, _ call: MethodCall) async throws -> [String: Value] {
        try await clipboards.paste(try peer(deviceId)).about
    }

    func read(deviceId: String, type: String, _ call: MethodCall) async throws -> ClipboardReadReply {
        let content = try await clipboards.read(try peer(deviceId), try kind(type))
        return ClipboardReadReply(contents: content.contents, content: try content.file.handedOut())
    }

    func readFollowed(
        deviceId: String, type: String, _ call: MethodCall
    ) async throws -> ClipboardReadFollowedReply {
        try clipboards.requireDesktop(call.caller.name)
        let content = try await clipboards.read(try peer(deviceId), try kind(type), isFollowed: true)
        return ClipboardReadFollowedReply(
            contents: content.contents, content: try content.file.handedOut())
    }

    private func kind(_ type: String) throws(HandoffFailure) -> ClipboardKind? {
        let kind = ClipboardKind(rawValue: type)
        guard type.isEmpty || kind != nil else {
            let known = ClipboardKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw HandoffFailure(.invalidArguments, "The type has to be one of \(known), or empty for all.")
        }
        return kind
    }

    func send(deviceId: String, _ call: MethodCall) async throws -> [String: Value] {
        try await clipboards.send(nil, to: try peer(deviceId)).about
    }

    func sendContent(
        deviceId: String, contents: [Structure<String, UInt64>], content: consuming FileDescriptor,
        _ call: MethodCall
    ) async throws -> [String: Value] {
        let device = try peer(deviceId)
        return try await clipboards.send(try ClipboardContent(contents, content), to: device).about
    }

    func register(clipboard: ObjectPath, desktop: String, _ call: MethodCall) throws {
        guard let name = call.caller.name, !desktop.isEmpty, desktop.utf8.count <= 64 else {
            throw HandoffFailure(
                .invalidArguments,
                "desktop is empty, or longer than 64 bytes. Give a short name of the means.")
        }
        welcome(name)
        call.afterReply { [clipboards] in clipboards.register(name, clipboard, desktop) }
    }

    func unregister(_ call: MethodCall) throws {
        if let name = call.caller.name { clipboards.unregister(name) }
    }

    func changed(types: [String], _ call: MethodCall) throws {
        try clipboards.requireDesktop(call.caller.name)
        clipboards.changed(types)
    }

    /// The peer that is called `text`.
    /// - Throws: `InvalidArgs`, or `NotPaired` if there is none.
    private func peer(_ text: String) throws -> DeviceID {
        let device = try DeviceID(checking: text)
        guard peers.contains(device) else { throw HandoffFailure.notPaired(device) }
        return device
    }
}
