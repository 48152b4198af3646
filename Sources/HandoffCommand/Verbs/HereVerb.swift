// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// `handoff here`: makes the folder of the shell that it is called from, or the session of tmux that it runs in, the current
/// activity.
struct HereVerb: Verb {
    static let name = "here"
    static let summary = tr(
        "Offer the folder that you are in, so that a terminal opens there on another device")

    private let ends: Bool
    private let isSession: Bool
    private let hasHistory: Bool

    static func declare(_ options: inout ProgramOptions) {
        options.flag(
            "history",
            tr(
                "Take the last commands along, to be read there: what standard input holds, e.g. from"
                    + " “fc -ln -20 |”, or else the end of the shell's history file"))
        options.flag(
            "session",
            tr("Offer the session of tmux that you are in instead, so that another device attaches to it"))
        options.flag("end", tr("End the offer; it also ends with the shell"))
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        _ = try values.arguments(0...0, "here [--history | --session | --end]")
        ends = values.has("end")
        hasHistory = values.has("history")
        isSession = values.has("session")
        guard [ends, hasHistory, isSession].count(where: { $0 }) <= 1 else {
            throw .usage(tr("--end, --history and --session cannot be combined. Give one of them."))
        }
    }

    func run(in session: Session) async throws -> Int32 {
        if ends {
            if let adapter = try await session.running(HandoffNames.shellAdapter) {
                try await Self.proxy(adapter).end()
            }
            try session.reply(tr("Nothing of this shell is offered any more."), ["folder": .null])
            return 0
        }
        if isSession { return try await offerSession(in: session) }
        let folder = try Self.folder()
        let history = hasHistory ? try CommandHistory.read() : []
        let adapter = try await session.adapter(HandoffNames.shellAdapter, tr("the adapter for shells"))
        try await Self.proxy(adapter).here(folder: folder, process: UInt32(getppid()), history: history)
        try session.reply(
            tr(
                "{folder} can be continued on your other devices as long as this shell runs.",
                ["folder": folder.shown]),
            ["folder": .string(folder)])
        return 0
    }

    @MainLoop
    private func offerSession(in session: Session) async throws -> Int32 {
        let name = try await TmuxSession.name()
        let adapter = try await session.adapter(HandoffNames.shellAdapter, tr("the adapter for shells"))
        try await Self.proxy(adapter).hereSession(session: name, process: UInt32(getppid()))
        try session.reply(
            tr(
                "The session “{session}” can be continued on your other devices as long as this shell runs, where “handoff"
                    + " ssh” has said how they reach this one.", ["session": name.shown]),
            ["session": .string(name)])
        return 0
    }

    @MainLoop
    private static func proxy(_ adapter: Daemon) -> ShellAdapterProxy {
        ShellAdapterProxy(adapter.object(HandoffNames.shellAdapterPath))
    }

    /// The folder as the user calls it, if that is where it is.
    private static func folder() throws(CommandFailure) -> String {
        var (named, real) = (stat(), stat())
        guard stat(".", &real) == 0, let path = getcwd(nil, 0) else {
            throw CommandFailure(
                tr(
                    "This folder is not there any more: {reason}. Go to another one.",
                    ["reason": SystemError.last]))
        }
        defer { free(path) }
        if let name = Variables.all["PWD"], isPlain(name), stat(name, &named) == 0,
            named.st_dev == real.st_dev, named.st_ino == real.st_ino
        {
            return name
        }
        guard let text = String(validatingCString: path) else {
            throw CommandFailure(tr("The name of this folder is not UTF-8. Rename it, or go to another one."))
        }
        return text
    }

    /// Whether `path` is absolute and says nothing in a roundabout way, as some shells do after “cd //tmp”.
    private static func isPlain(_ path: String) -> Bool {
        guard path.hasPrefix("/") else { return false }
        return path == "/"
            || path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
                !["", ".", ".."].contains($0)
            }
    }
}
