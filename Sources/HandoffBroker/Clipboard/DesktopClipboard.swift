// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The program that reads and writes the clipboard of the desktop for the broker.
@MainLoop
final class DesktopClipboard {
    /// Who it is.
    let owner: BusName
    /// By which means it does that, for people.
    let name: String
    private let proxy: DesktopClipboardProxy

    /// How long reading may take: less than the peer waits.
    private static let patience = Duration.seconds(8)

    /// The object `path` of `owner`.
    init(_ connection: Connection, _ owner: BusName, _ path: ObjectPath, _ name: String) {
        (self.owner, self.name) = (owner, name)
        proxy = DesktopClipboardProxy(RemoteObject(connection, owner, path))
    }

    /// What is in the clipboard, or of it what is of `kind`.
    func read(_ kind: ClipboardKind?) async throws -> ClipboardContent {
        let reply = try await proxy.read(type: kind?.rawValue ?? "", timeout: Self.patience)
        let contents = reply.contents
        guard let content = try ClipboardContent(contents, reply.content).checked() else {
            throw HandoffFailure.clipboardEmpty
        }
        return content
    }

    /// Puts `content` of `device` into it.
    func write(_ content: ClipboardContent, from device: DeviceID) async throws {
        try await proxy.write(
            deviceId: device.description, contents: content.contents, content: content.file.handedOut(),
            timeout: Self.patience)
    }

    /// Does what is to be done.
    func perform(_ action: ClipboardNews.Action) async throws {
        switch action {
        case .follow(let device, let kinds, let age):
            let age = Int64(age / .microseconds(1))
            try await proxy.follow(deviceId: device.description, types: kinds.map(\.rawValue), age: age)
        case .ask(let device, let kinds):
            try await proxy.ask(deviceId: device.description, types: kinds.map(\.rawValue))
        }
    }
}
