// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// One verb of the command line, as it was called.
protocol Verb: Sendable {
    /// The word.
    static var name: String { get }
    /// What follows the word, for the first line of the help; nil if only options may.
    static var arguments: String? { get }
    /// What it does, in one line.
    static var summary: String { get }
    /// Declares its options, except `--json`, which each verb has.
    static func declare(_ options: inout ProgramOptions)
    /// What can follow the word, for who has it completed.
    static var completion: Completion { get }
    /// What can follow that.
    static var furtherCompletion: Completion { get }
    /// What the arguments of options can be whose name in the help does not say it, by the names of the options.
    static var completions: [String: Completion] { get }
    /// What `--json` prints, in one line.
    static var jsonSummary: String { get }

    /// Takes over what the command line says.
    /// - Throws: what is wrong with it.
    init(_ values: ProgramOptions.Values) throws(CommandFailure)

    /// Whether standard output is for the bytes of a stream, so that all else goes to standard error.
    var streamsBytes: Bool { get }

    /// Carries out the verb and returns the exit status.
    @MainLoop
    func run(in session: Session) async throws -> Int32
}

extension Verb {
    static var arguments: String? { nil }
    static func declare(_ options: inout ProgramOptions) {}
    static var completion: Completion { .nothing }
    static var furtherCompletion: Completion { .nothing }
    var streamsBytes: Bool { false }
    static var completions: [String: Completion] { [:] }
    static var jsonSummary: String { tr("Print JSON, for programs") }

    /// Its options.
    static var options: ProgramOptions {
        var options = ProgramOptions(arguments: arguments, summary: summary + ".")
        declare(&options)
        options.flag("json", jsonSummary)
        return options
    }
}

extension ProgramOptions.Values {
    /// The arguments, of which there must be as many as `count` allows.
    func arguments(_ count: ClosedRange<Int>, _ usage: String) throws(CommandFailure) -> [String] {
        guard count.contains(rest.count) else {
            throw .usage(
                rest.count < count.lowerBound
                    ? tr("Something is missing: the usage is “handoff {usage}”.", ["usage": usage])
                    : tr("There are too many arguments: the usage is “handoff {usage}”.", ["usage": usage]))
        }
        return rest
    }

    /// Checks that these options, each with what its argument is called, are all given.
    /// - Parameter otherwise: what would do instead, for the user to read.
    /// - Throws: a failure that names all that are missing.
    func require(_ options: KeyValuePairs<String, String>, otherwise: String? = nil) throws(CommandFailure) {
        let missing = options.filter { !has($0.key) }.map { "--\($0.key) \($0.value)" }
        guard let last = missing.last else { return }
        let advice = otherwise ?? tr("Try --help.")
        guard missing.count > 1 else {
            throw .usage(tr("{option} is missing.", ["option": last]) + " \(advice)")
        }
        let others = missing.dropLast().joined(separator: ", ")
        throw .usage(
            tr("{options} and {option} are missing.", ["options": others, "option": last]) + " \(advice)")
    }
}
