// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff paste`: puts what was copied on a device into the clipboard here, or writes it to standard output.
struct PasteVerb: Verb {
    static let name = "paste"
    static let arguments: String? = "[DEVICE]"
    static let summary = tr("Put what was copied on a device into the clipboard here, or print it")
    static let completion = Completion.peers
    static let completions = ["type": Completion.clipboardKinds]

    private let device: String?
    private let prints: Bool
    private let kind: ClipboardKind?

    static func declare(_ options: inout ProgramOptions) {
        options.flag("stdout", tr("Write it to standard output, and leave the clipboard here as it is"))
        options.text(
            "type", argument: "TYPE",
            tr("With --stdout: as text, html, image or files (default: text, if it is available)"))
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(0...1, "paste [DEVICE]").first
        prints = values.has("stdout")
        let type = values["type"]
        kind = type.flatMap { ClipboardKind(argument: $0) }
        if let type {
            guard prints else { throw .usage(tr("--type needs --stdout.")) }
            guard kind != nil else {
                throw .usage(
                    tr(
                        "--type “{text}” is not available from other devices: give text, html, image or files.",
                        ["text": type.shown]))
            }
        }
        guard !prints || !StandardDescriptors.closed.contains(STDOUT_FILENO) else {
            throw .usage(tr("--stdout: standard output is closed. Redirect it."))
        }
        guard kind != .image || !Self.isTerminal else { throw Self.imageOnTerminal }
    }

    var streamsBytes: Bool { prints }

    func run(in session: Session) async throws -> Int32 {
        let clipboard = try await DeviceClipboard(device, in: session)
        guard prints else {
            let about = try await clipboard.paste()
            try session.reply(
                Self.words(ClipboardSummary(about), from: clipboard.device),
                clipboard.device.json(clipboard: about))
            return 0
        }
        let content = try await clipboard.content(kind)
        guard let kind = kind ?? Self.best(of: content.kinds), let file = try content.file(of: kind) else {
            throw CommandFailure(
                tr("What was copied there is not available as that type. Try another --type, or none."),
                .notFound)
        }
        try Self.print(kind, try file.bytes())
        if session.printsJSON { Output.jsonNote(clipboard.device.json(clipboard: content.about)) }
        return 0
    }

    /// The line that says what is in the clipboard now.
    static func words(_ summary: ClipboardSummary, from device: KnownDevice) -> String {
        tr("{content}, from “{device}”.", ["content": summary.text, "device": device.label.shown])
    }

    /// As what it is printed, if nobody has said that.
    static func best(of kinds: [ClipboardKind]) -> ClipboardKind? {
        kinds.contains(.text) ? .text : kinds.first
    }

    // MARK: Printing

    private static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    private static var imageOnTerminal: CommandFailure {
        .usage(
            tr(
                "It is an image, and standard output is a terminal. Redirect it:"
                    + " handoff paste --stdout --type image > FILE"))
    }

    private static func print(_ kind: ClipboardKind, _ bytes: [UInt8]) throws(CommandFailure) {
        guard isTerminal else { return try Output.bytes(bytes) }
        guard kind != .image else { throw imageOnTerminal }
        try Output.line(shown(String(decoding: bytes, as: UTF8.self)))
    }

    /// `text` for a terminal, which it cannot steer, without the end of its last line.
    static func shown(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.replacing("\r\n", with: "\n").unicodeScalars {
            let steers = PeerText.isControl(scalar) && scalar != "\n" && scalar != "\t"
            shown.append(steers ? "\u{FFFD}" : scalar)
        }
        if shown.last == "\n" { shown.removeLast() }
        return String(shown)
    }
}
