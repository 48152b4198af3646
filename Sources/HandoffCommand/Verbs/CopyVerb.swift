// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff copy`: sends a text or an image to a device, whose user is asked whether to copy it there.
struct CopyVerb: Verb {
    static let name = "copy"
    static let arguments: String? = "DEVICE [FILE]"
    static let summary = tr(
        "Send what was copied here, or a text or an image, to a device, which asks whether to copy it")
    static let completion = Completion.peers
    static let furtherCompletion = Completion.files

    private let device: String
    /// What is sent; nil for what is in the clipboard here.
    private let input: CopiedInput?

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        let arguments = try values.arguments(1...2, "copy DEVICE [FILE]")
        device = arguments[0]
        input = arguments.count > 1 ? try CopiedInput(arguments[1]) : try CopiedInput.standard()
    }

    func run(in session: Session) async throws -> Int32 {
        let content = try input?.content()
        let clipboard = try await DeviceClipboard(device, in: session)
        let about = try await clipboard.send(content)
        try session.reply(
            Self.words(ClipboardSummary(about), to: clipboard.device),
            clipboard.device.json(clipboard: about))
        return 0
    }

    /// The line that says what was sent.
    static func words(_ summary: ClipboardSummary, to device: KnownDevice) -> String {
        tr(
            "Sent to “{device}”: {content}. That device asks whether to copy it.",
            ["content": summary.text, "device": device.label.shown])
    }
}
