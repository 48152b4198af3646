// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// A command line that is being typed, as far as the word that is to be completed.
struct CompletionRequest: Equatable {
    /// What can stand there beside options.
    private(set) var completion: Completion = .nothing
    /// The options that can stand there, with what they do.
    private(set) var options: [CompletionCandidate] = []
    /// What has been typed of the word, without an option and equals sign before it.
    private(set) var typed: String
    /// The option and the equals sign with which the word begins.
    private(set) var prefix = ""

    /// The request with these words after the name of the program; the last one is to be completed, and may be empty.
    init(_ words: [String]) {
        typed = words.last ?? ""
        let before = words.dropLast()
        guard let word = before.first else {
            completion = .verbs
            options = ["--help", "--version"].compactMap { CompletionCandidate($0, "") }
            return
        }
        if word == "help" {
            completion = before.count == 1 ? .verbs : .nothing
            return
        }
        guard let verb = HandoffCommand.verbs.first(where: { $0.name == word }) else { return }
        complete(verb, after: Array(before.dropFirst()))
    }

    private mutating func complete(_ verb: any Verb.Type, after words: [String]) {
        let known = verb.options.all
        var given: Set<String> = []
        var (arguments, isLiteral) = (0, false)
        var awaited: ProgramOptions.Description?
        for word in words {
            if awaited != nil {
                awaited = nil
            } else if isLiteral || !word.hasPrefix("-") || word == "-" {
                arguments += 1
            } else if word == "--" {
                isLiteral = true
            } else {
                let option = Self.option(word, known)
                if let option { given.insert(option.name) }
                if option?.argument != nil, !word.contains("=") { awaited = option }
            }
        }
        if isLiteral, verb.arguments?.contains("COMMAND") == true {
            completion = .commands
        } else if let awaited {
            completion = verb.completion(of: awaited)
        } else if !isLiteral, typed.hasPrefix("--"), let end = typed.firstIndex(of: "="),
            let option = Self.option(typed, known)
        {
            completion = verb.completion(of: option)
            prefix = String(typed[...end])
            typed = String(typed[typed.index(after: end)...])
        } else {
            switch arguments {
            case 0: completion = verb.completion
            case 1: completion = verb.furtherCompletion
            default: break
            }
            if !isLiteral, typed.hasPrefix("-") || completion == .nothing {
                options = known.filter { $0.repeats || !given.contains($0.name) }
                    .compactMap { CompletionCandidate("--\($0.name)", $0.description) }
            }
        }
    }

    /// The option that `word` is, with or without an argument behind an equals sign.
    private static func option(
        _ word: String, _ known: [ProgramOptions.Description]
    ) -> ProgramOptions.Description? {
        if word.hasPrefix("--") {
            let name = word.dropFirst(2).prefix { $0 != "=" }
            return known.first { $0.name == name }
        }
        let letter = word.last
        return known.first { $0.letter != nil && $0.letter == letter }
    }
}

extension Verb {
    /// What the argument of `option` can be.
    static func completion(of option: ProgramOptions.Description) -> Completion {
        completions[option.name] ?? Completion(argument: option.argument ?? "")
    }
}
