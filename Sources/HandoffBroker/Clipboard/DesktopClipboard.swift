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
    func read(_ kind: ClipboardKind?) async throws(HandoffFailure) -> ClipboardContent {
        let content = try await ask { proxy in
            let reply = try await proxy.read(type: kind?.rawValue ?? "", timeout: Self.patience)
            let contents = reply.contents
            return try ClipboardContent(contents, reply.content).checked()
        }
        guard let content else { throw HandoffFailure.clipboardEmpty }
        return content
    }

    /// Puts `content` of `device` into it.
    func write(_ content: ClipboardContent, from device: DeviceID) async throws(HandoffFailure) {
        try await ask { proxy in
            try await proxy.write(
                deviceId: device.description, contents: content.contents,
                content: content.file.handedOut(), timeout: Self.patience)
        }
    }

    /// Does what is to be done.
    func perform(_ action: ClipboardNews.Action) async throws(HandoffFailure) {
        try await ask { proxy in
            switch action {
            case .follow(let device, let kinds, let age):
                try await proxy.follow(
                    deviceId: device.description, types: kinds.map(\.rawValue), age: age.wholeMicroseconds)
            case .ask(let device, let kinds):
                try await proxy.ask(deviceId: device.description, types: kinds.map(\.rawValue))
            }
        }
    }

    /// Whoever does not answer as it should reaches no clipboard.
    private func ask<Answer: Sendable>(
        _ body: @MainLoop (DesktopClipboardProxy) async throws -> Answer
    ) async throws(HandoffFailure) -> Answer {
        do {
            return try await body(proxy)
        } catch {
            if let failure = error as? HandoffFailure { throw failure }
            let error = DBusError.converting(error)
            brokerLog.debug("\(owner), which reaches the clipboard, has answered: \(error.message)")
            guard let code = HandoffFailure.Code(error.name) else { throw .noClipboard }
            throw HandoffFailure(code, error.message)
        }
    }
}
