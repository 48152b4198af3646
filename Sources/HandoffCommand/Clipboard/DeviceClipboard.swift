// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// The clipboard of a device, from which something is had, or to which something is sent.
@MainLoop
struct DeviceClipboard {
    /// The device.
    let device: KnownDevice
    private let proxy: ClipboardProxy

    /// How long it may take: longer than the broker waits for the largest content.
    private static let timeout = Duration.seconds(120)
    /// How long nothing is said meanwhile.
    private static let patience = Duration.seconds(2)

    /// That of the device that `name` names, or without a name of the one that is connected.
    /// - Throws: a failure that names the devices if it is not clear which one is meant.
    init(_ name: String?, in session: Session) async throws {
        let broker = try await session.broker()
        let peers = try await session.bridge().devices().filter(\.isPaired)
        device =
            try name.map { text throws(CommandFailure) in try peers.choose(text) } ?? peers.onlyConnected()
        proxy = ClipboardProxy(broker.object(HandoffNames.brokerPath))
    }

    // MARK: Getting

    /// Puts what is in it into the clipboard here, and returns what that is.
    func paste() async throws -> [String: Value] {
        try await calling(Self.notPasted) { [proxy, device] in
            try await proxy.paste(deviceId: device.id, timeout: Self.timeout)
        }
    }

    /// What is in it, or of it what is of `kind`.
    func content(_ kind: ClipboardKind?) async throws -> ClipboardContent {
        try await calling(Self.notPasted) { [proxy, device] in
            let reply = try await proxy.read(
                deviceId: device.id, type: kind?.rawValue ?? "", timeout: Self.timeout)
            let contents = reply.contents
            return try ClipboardContent(contents, reply.content)
        }
    }

    // MARK: Sending

    /// Sends `content`, or what is in the clipboard here, and returns what that is.
    func send(_ content: ClipboardContent?) async throws -> [String: Value] {
        try await calling(Self.notSent) { [proxy, device] in
            guard let content else { return try await proxy.send(deviceId: device.id, timeout: Self.timeout) }
            let file = try content.file.handedOut()
            return try await proxy.sendContent(
                deviceId: device.id, contents: content.contents, content: file, timeout: Self.timeout)
        }
    }

    // MARK: Calls

    /// What `body` returns. Who waits at a terminal is told so after a moment.
    /// - Throws: what `words` makes of the reason, if the broker or the device has given one.
    private func calling<Outcome>(
        _ words: (_ device: String, _ reason: String) -> String, _ body: @MainLoop () async throws -> Outcome
    ) async throws -> Outcome {
        let progress = ProgressLine()
        let timer = LoopSource.timer(after: Self.patience) { [device] in
            progress.show(tr("Waiting for “{device}”.", ["device": device.label.shown]))
        }
        defer {
            timer.cancel()
            progress.end()
        }
        do {
            return try await body()
        } catch {
            let error = DBusError.converting(error)
            guard HandoffFailure.Code(error.name) != nil else { throw error }
            // The words may be those of the device.
            throw CommandFailure(
                words(device.label.shown, ChosenText(message: error.message).shown),
                errorName: error.name.text)
        }
    }

    private static func notPasted(_ device: String, _ reason: String) -> String {
        tr("Nothing was pasted from “{device}”: “{reason}”", ["device": device, "reason": reason])
    }

    private static func notSent(_ device: String, _ reason: String) -> String {
        tr("“{device}” has not received it: “{reason}”", ["device": device, "reason": reason])
    }
}

extension KnownDevice {
    /// The device, and what of a clipboard came from there or went there, as the broker says it, for programs.
    func json(clipboard about: [String: Value]) -> JSON {
        json([
            .init(name: "types", value: .strings(about.texts("Types"))),
            .init(name: "sizes", value: .array((about["Sizes"]?.numbers ?? []).map { .integer($0) })),
            .init(
                name: "characters",
                value: ClipboardSummary(about).characters.map { .integer($0) } ?? .null),
        ])
    }
}
