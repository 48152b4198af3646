// SPDX-License-Identifier: LGPL-2.1-or-later

/// The command line of a desktop entry (Desktop Entry Specification, "The Exec key"), split into words and with its
/// field codes replaced.
///
/// The words are split before anything is put into them, so that nothing that is opened can become a second argument
/// or be taken for quoting. What is opened always begins with a scheme or a slash, and so is never an option.
package struct ExecLine: Sendable {
    /// What the program is given to open.
    package enum Opened: Hashable, Sendable {
        /// A web page, by its address.
        case page(String)
        /// A file, by its address, and by its absolute path, which is nil if that is not UTF-8.
        case file(url: String, path: String?)
    }

    /// What the entry says besides its command line.
    package struct Entry: Hashable, Sendable {
        /// The name of the application, for people.
        package var name: String
        /// The name of its icon; empty for none.
        package var icon: String
        /// Where the entry is.
        package var path: String

        /// An entry at `path`.
        package init(name: String, icon: String, path: String) {
            (self.name, self.icon, self.path) = (name, icon, path)
        }
    }

    /// The program: a name to be looked for, or an absolute path.
    package let program: String
    private let words: [String]

    /// The command line whose words are these, with all quoting removed.
    /// Fails with `applicationFailed` if there is no program, or something in the line is not legal.
    package init(words: [String]) throws(HandoffFailure) {
        guard let first = words.first, let program = Self.program(first) else {
            throw Self.illegal("it names no program")
        }
        self.program = program
        self.words = words
        for word in words.dropFirst() { try Self.check(word) }
    }

    /// Whether the line says where to put what is opened.
    package var takesSomething: Bool {
        words.dropFirst().contains { !Self.codes(in: $0).isDisjoint(with: Self.openingCodes) }
    }

    /// The arguments, of which the first is the program, for opening `opened`; nil for nothing. A line that does not
    /// say where that goes gets it as its last argument, as with GIO and KDE.
    ///
    /// Fails with `applicationFailed` if the line takes only files and this is none that it could be given.
    package func arguments(opening opened: Opened?, of entry: Entry) throws(HandoffFailure) -> [String] {
        var arguments = [program]
        for word in words.dropFirst() { arguments += try Self.expand(word, opened, entry) }
        if let opened, !takesSomething {
            switch opened {
            case .page(let url), .file(let url, path: nil): arguments.append(url)
            case .file(_, let path?): arguments.append(path)
            }
        }
        return arguments
    }

    // MARK: Codes

    private static let openingCodes: Set<Unicode.Scalar> = ["f", "F", "u", "U"]
    /// Codes that mean nothing any more.
    private static let deprecatedCodes: Set<Unicode.Scalar> = ["d", "D", "n", "N", "v", "m"]
    private static let otherCodes: Set<Unicode.Scalar> = ["i", "c", "k", "%"]
    private static let knownCodes = openingCodes.union(deprecatedCodes).union(otherCodes)

    private static func illegal(_ reason: String) -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            "The Exec line of its desktop entry cannot be used: \(reason). Install the application again.")
    }

    /// The program that the first word names; nil if that is not legal. What is opened never says which program runs.
    private static func program(_ word: String) -> String? {
        guard codes(in: word).isSubset(of: ["%"]), parts(of: word) != nil else { return nil }
        let program = word.replacingPercents
        return program.isEmpty || program.utf8.contains(UInt8(ascii: "=")) ? nil : program
    }

    /// Throws if a word has codes that do not exist, or has what is opened within something that a shell could read:
    /// an address may hold anything that means something to a shell.
    private static func check(_ word: String) throws(HandoffFailure) {
        guard word.utf8.contains(UInt8(ascii: "%")) else { return }
        guard let parts = parts(of: word) else { throw illegal("a % stands there without a code") }
        let codes = codes(in: word)
        if let unknown = codes.subtracting(knownCodes).sorted().first {
            throw illegal("there is no code \(PeerText.message("%\(unknown)"))")
        }
        guard !codes.isDisjoint(with: openingCodes) else { return }
        let isPlain = parts.allSatisfy { part in
            switch part {
            case .text(let text):
                text.utf8.allSatisfy { $0.isLabelCharacter || ".,:=/@+".utf8.contains($0) }
            case .code(let code): code != "c" && code != "k" && code != "i"
            }
        }
        guard isPlain else { throw illegal("what is to be opened stands within a quoted argument") }
    }

    private enum Part {
        case text(String)
        case code(Unicode.Scalar)
    }

    /// The texts and codes of a word; nil if it ends in the middle of a code.
    private static func parts(of word: String) -> [Part]? {
        var parts: [Part] = []
        var text = String.UnicodeScalarView()
        var rest = word.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                text.append(scalar)
                continue
            }
            guard let code = rest.popFirst() else { return nil }
            if !text.isEmpty { parts.append(.text(String(text))) }
            text = String.UnicodeScalarView()
            parts.append(.code(code))
        }
        return text.isEmpty ? parts : parts + [.text(String(text))]
    }

    private static func codes(in word: String) -> Set<Unicode.Scalar> {
        Set((parts(of: word) ?? []).compactMap { if case .code(let code) = $0 { code } else { nil } })
    }

    // MARK: Expanding

    private static func expand(
        _ word: String, _ opened: Opened?, _ entry: Entry
    ) throws(HandoffFailure) -> [String] {
        guard let parts = parts(of: word), !parts.isEmpty else { return [word] }
        if parts.count == 1, case .code("i") = parts[0] {
            return entry.icon.isEmpty ? [] : ["--icon", entry.icon]
        }
        var result = ""
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .code("%"): result += "%"
            case .code("c"): result += entry.name
            case .code("k"): result += entry.path
            case .code("i"): result += entry.icon
            case .code(let code): result += try text(of: code, opened)
            }
        }
        // A word that was nothing but codes without a meaning here is none.
        let hasText = parts.contains { if case .text = $0 { true } else { false } }
        return result.isEmpty && !hasText ? [] : [result]
    }

    /// What stands for a code of what is opened.
    private static func text(of code: Unicode.Scalar, _ opened: Opened?) throws(HandoffFailure) -> String {
        switch (code, opened) {
        case ("u", .page(let url)), ("U", .page(let url)): return url
        case ("u", .file(let url, _)), ("U", .file(let url, _)): return url
        case ("f", .file(_, let path?)), ("F", .file(_, let path?)): return path
        case ("f", .page), ("F", .page):
            throw HandoffFailure(
                .applicationFailed, "It opens only files, and not web pages. Choose another web browser.")
        case ("f", .file), ("F", .file):
            throw HandoffFailure(
                .applicationFailed,
                "It takes only paths, and the path of this file is not UTF-8 text. Rename the file.")
        default: return ""
        }
    }
}

extension String {
    /// The same with each `%%` replaced by `%`.
    fileprivate var replacingPercents: String {
        var result = String.UnicodeScalarView()
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            result.append(scalar)
            if scalar == "%" { _ = rest.popFirst() }
        }
        return String(result)
    }
}
