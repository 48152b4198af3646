// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The command line program `handoff`.
public enum HandoffCommand {
    static let verbs: [any Verb.Type] = [
        StatusVerb.self, ListVerb.self, ContinueVerb.self, SendVerb.self, DevicesVerb.self, PairVerb.self,
        UnpairVerb.self, ConnectVerb.self, TrustVerb.self, UntrustVerb.self, MuteVerb.self, UnmuteVerb.self,
        OnVerb.self, OffVerb.self, WatchVerb.self, PublishVerb.self, ReceiveVerb.self, HereVerb.self,
    ]

    /// Does what `commandLine` says, which begins with the name of the program, and returns the exit status:
    /// 0, 1 if something failed, 2 if the command line was wrong.
    public static func run(_ commandLine: [String]) -> Int32 {
        _ = StandardDescriptors.closed
        Log.useStandardError()
        do {
            guard let verb = try parse(commandLine) else { return 0 }
            let run = MainLoop.assumeIsolated { VerbRun() }
            MainLoop.start { await run.perform(verb) }
            MainLoop.run(until: run.token)
            return MainLoop.assumeIsolated { run.status }
        } catch {
            Output.note(error.message)
            return error.status
        }
    }

    // MARK: Command line

    /// The verb that is meant, or nil if the answer has been printed already.
    private static func parse(_ commandLine: [String]) throws(CommandFailure) -> (any Verb)? {
        let options = programOptions
        let values = try parse(options, commandLine)
        if values.has("version") {
            try Output.line("handoff \(Release.version)")
            return nil
        }
        if values.has("help") { return try help([]) }
        guard let word = values.rest.first else {
            throw .usage("Say what to do, for example “handoff status”. “handoff help” lists everything.")
        }
        let rest = Array(values.rest.dropFirst())
        if word == "help" { return try help(rest) }
        return try parse(try verb(word), rest)
    }

    private static func parse(_ verb: any Verb.Type, _ rest: [String]) throws(CommandFailure) -> (any Verb)? {
        let values = try parse(verb.options, ["handoff"] + rest)
        if values.has("help") { return try help([verb.name]) }
        if values.has("version") {
            try Output.line("handoff \(Release.version)")
            return nil
        }
        return try verb.init(values)
    }

    private static func parse(
        _ options: ProgramOptions, _ commandLine: [String]
    ) throws(CommandFailure) -> ProgramOptions.Values {
        do throws(ProgramOptions.Failure) {
            return try options.parse(commandLine)
        } catch {
            throw .usage(error.description.shown)
        }
    }

    private static func verb(_ word: String) throws(CommandFailure) -> any Verb.Type {
        guard let verb = verbs.first(where: { $0.name == word }) else {
            throw .usage("There is no command \(word.quoted). “handoff help” lists them.")
        }
        return verb
    }

    // MARK: Help

    private static func help(_ words: [String]) throws(CommandFailure) -> (any Verb)? {
        var text = programOptions.help(program: "handoff")
        if let word = words.first {
            let verb = try verb(word)
            text = verb.options.help(program: "handoff \(verb.name)")
        }
        while text.last == "\n" { text.removeLast() }
        try Output.line(text)
        return nil
    }

    private static var programOptions: ProgramOptions {
        let width = (verbs.map { $0.name.count }.max() ?? 0) + 2
        let list = verbs.map { "  " + $0.name.padded(to: width) + $0.summary }
        return ProgramOptions(
            arguments: "COMMAND [ARGUMENT…]",
            summary: "Continue on one of your devices what you were doing on another.\n\nCommands:\n"
                + list.joined(separator: "\n") + "\n\n“handoff help COMMAND” says more about a command.",
            stopsAtFirstArgument: true)
    }
}

/// A verb while it is being carried out.
@MainLoop
private final class VerbRun {
    nonisolated let token = RunToken()
    private(set) var status: Int32 = 0

    func perform(_ verb: any Verb) async {
        let session = Session()
        do {
            status = try await verb.run(in: session)
        } catch {
            let failure = CommandFailure(error)
            Output.note(failure.message)
            status = failure.status
        }
        session.flush()
        token.stop()
    }
}
