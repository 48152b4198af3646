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
    /// Declares its options.
    static func declare(_ options: inout ProgramOptions)

    /// Takes over what the command line says.
    /// - Throws: what is wrong with it.
    init(_ values: ProgramOptions.Values) throws(CommandFailure)

    /// Carries out the verb and returns the exit status.
    @MainLoop
    func run(in session: Session) async throws -> Int32
}

extension Verb {
    static var arguments: String? { nil }
    static func declare(_ options: inout ProgramOptions) {}

    /// Its options.
    static var options: ProgramOptions {
        var options = ProgramOptions(arguments: arguments, summary: summary + ".")
        declare(&options)
        return options
    }
}

extension ProgramOptions {
    /// Declares `--json`.
    mutating func json(_ description: String = "Print JSON, for programs") { flag("json", description) }
}

extension ProgramOptions.Values {
    /// The arguments, of which there must be as many as `count` allows.
    func arguments(_ count: ClosedRange<Int>, _ usage: String) throws(CommandFailure) -> [String] {
        guard count.contains(rest.count) else {
            let problem = rest.count < count.lowerBound ? "Something is missing" : "There is too much"
            throw .usage("\(problem): the usage is “handoff \(usage)”.")
        }
        return rest
    }

    /// The argument of an option that must be given.
    func required(_ name: String, _ argument: String) throws(CommandFailure) -> String {
        guard let text = self[name] else { throw .usage("--\(name) \(argument) is missing. Try --help.") }
        return text
    }
}
