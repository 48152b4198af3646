// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The command line program `handoff`.
package enum HandoffCommand {
    static let verbs: [any Verb.Type] = [
        StatusVerb.self, ListVerb.self, ContinueVerb.self, SendVerb.self, WaitingVerb.self, CancelVerb.self,
        PasteVerb.self, CopyVerb.self,
        DevicesVerb.self, PairVerb.self, DeclineVerb.self, UnpairVerb.self, ConnectVerb.self, TrustVerb.self,
        UntrustVerb.self, CarryVerb.self,
        MuteVerb.self, UnmuteVerb.self,
        OnVerb.self, OffVerb.self, WatchVerb.self, PublishVerb.self, ReceiveVerb.self, HereVerb.self,
        SSHVerb.self,
        ResetVerb.self, TwinsVerb.self,
    ]
    /// Those that no user calls.
    private static let inner: [any Verb.Type] = [TwinsKeeperVerb.self]

    /// Does what `commandLine` says, which begins with the name of the program, and returns the exit status: 0, or that of a
    /// ``FailureKind``.
    package static func run(_ commandLine: [String]) -> Int32 {
        _ = StandardDescriptors.closed
        Log.useStandardError()
        // Even what cannot be understood is answered in the form that was asked for.
        let printsJSON = commandLine.prefix { $0 != "--" }.contains("--json")
        // Programs read the same whatever the language of their user is.
        if !printsJSON { Translation.begin() }
        do {
            guard let call = try parse(commandLine) else { return 0 }
            let run = MainLoop.assumeIsolated { VerbRun(printsJSON: call.printsJSON) }
            MainLoop.start { await run.perform(call.verb) }
            MainLoop.run(until: run.token)
            return MainLoop.assumeIsolated { run.status }
        } catch {
            Output.failure(error, asJSON: printsJSON)
            return error.status
        }
    }

    // MARK: Command line

    /// A verb, and whether what it prints is for programs.
    private typealias Call = (verb: any Verb, printsJSON: Bool)

    /// What is meant, or nil if the answer has been printed already.
    private static func parse(_ commandLine: [String]) throws(CommandFailure) -> Call? {
        // The words that are to be completed are nothing to be understood here.
        let words = commandLine.dropFirst()
        if words.first == CompleteVerb.name {
            let isMarked = words.dropFirst().first == "--"
            return (CompleteVerb(words: Array(words.dropFirst(isMarked ? 2 : 1))), false)
        }
        let values = try parse(programOptions, commandLine)
        if values.has("version") {
            try Output.line("handoff \(Release.version)")
            return nil
        }
        if values.has("help") { return try help([]) }
        guard let word = values.rest.first else {
            throw .usage(tr("Say what to do, for example “handoff status”. “handoff help” lists everything."))
        }
        let rest = Array(values.rest.dropFirst())
        if word == "help" { return try help(rest) }
        return try parse(try verb(word), rest)
    }

    private static func parse(_ verb: any Verb.Type, _ rest: [String]) throws(CommandFailure) -> Call? {
        let values = try parse(verb.options, ["handoff"] + rest)
        if values.has("help") { return try help([verb.name]) }
        if values.has("version") {
            try Output.line("handoff \(Release.version)")
            return nil
        }
        return (try verb.init(values), values.has("json"))
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
        guard let verb = (verbs + inner).first(where: { $0.name == word }) else {
            let nearest = NearestWord.to(word, among: verbs.map { $0.name })
            let advice =
                nearest.map { tr("Did you mean “handoff {command}”?", ["command": $0]) }
                ?? tr("“handoff help” lists them.")
            throw .usage(tr("There is no command “{command}”.", ["command": word.shown]) + " \(advice)")
        }
        return verb
    }

    // MARK: Help

    private static func help(_ words: [String]) throws(CommandFailure) -> Call? {
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
            summary: tr("Continue on one of your devices what you were doing on another.")
                + "\n\n" + tr("Commands:") + "\n" + list.joined(separator: "\n")
                + "\n\n" + tr("“handoff help COMMAND” says more about a command."),
            stopsAtFirstArgument: true)
    }
}

/// A verb while it is being carried out.
@MainLoop
private final class VerbRun {
    nonisolated let token = RunToken()
    private let printsJSON: Bool
    private(set) var status: Int32 = 0

    init(printsJSON: Bool) { self.printsJSON = printsJSON }

    func perform(_ verb: any Verb) async {
        let session = Session(printsJSON: printsJSON)
        do {
            status = try await verb.run(in: session)
        } catch {
            let failure = CommandFailure(error)
            Output.failure(failure, asJSON: printsJSON, besideBytes: verb.streamsBytes)
            status = failure.status
        }
        session.flush()
        token.stop()
    }
}
