// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import Platform

/// Which names of files stand for which MIME types (Shared MIME-info Database, `globs2`).
///
/// GIO's g_content_type_guess would say so too, but looks at the database whenever it is asked, which stops the caller as
/// long as its file system does not answer, and everybody else who asks. Here it is read where it may block; asking costs
/// a look into a table.
package struct FileNameTypes: Sendable {
    /// What a pattern stands for, small because there are more than a thousand. The heavier counts.
    private struct Entry {
        /// Which of ``types``.
        let type: UInt16
        let weight: Int16
        let length: UInt8
    }

    /// A pattern that is neither a whole name nor an ending.
    private struct Glob {
        let pattern: String
        let isCaseSensitive: Bool
        let entry: Entry
    }

    /// The patterns of one kind, which count for the name as it is, or for the name in lower case.
    private struct Table {
        var exact: [String: Entry] = [:]
        var folded: [String: Entry] = [:]
    }

    private var types: [String] = []
    /// Whole names, and endings of names without the asterisk in front.
    private var (names, endings) = (Table(), Table())
    private var globs: [Glob] = []
    private var patterns = 0

    /// What a file is whose name says nothing.
    package static let unknown = "application/octet-stream"
    /// What is at a path that ends with a slash.
    private static let folder = "inode/directory"
    /// How many bytes a file of the database may have.
    private static let maximumSize = 1 << 20
    /// How many patterns are kept, and how many of those that have to be tried one after the other: a desktop has about
    /// ten of them.
    private static let (maximumPatterns, maximumGlobs) = (16_384, 64)
    /// How many bytes a pattern may have, and a name that is compared with those that have to be tried.
    private static let maximumPattern = 255
    /// How many bytes a pattern may have that has to be tried: that takes longer with each.
    private static let maximumGlob = 64
    /// How many asterisks such a pattern may have: with each, trying takes as many times as long as the name has bytes.
    private static let maximumAsterisks = 2

    /// Nothing is known of any name.
    package init() {}

    /// Adds what the file at `path` says, if there is one. What was known before takes precedence. This blocks as long as
    /// the file system does.
    package mutating func read(_ path: String) {
        guard let bytes = try? SmallFile.read(path, maximumSize: Self.maximumSize) else { return }
        add(String(decoding: bytes, as: UTF8.self))
    }

    /// Adds lines `WEIGHT:TYPE:PATTERN` or `WEIGHT:TYPE:PATTERN:FLAGS`; what is none is ignored.
    package mutating func add(_ lines: String) {
        var indices = Dictionary(types.enumerated().map { ($1, UInt16($0)) }) { first, _ in first }
        for line in lines.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count >= 3, let weight = Int16(parts[0]), MIMEType.isValid(parts[1].lowercased()),
                (1...Self.maximumPattern).contains(parts[2].utf8.count), patterns < Self.maximumPatterns
            else { continue }
            let isCaseSensitive = parts.count > 3 && parts[3].split(separator: ",").contains("cs")
            let type = String(parts[1])
            if indices[type] == nil {
                // There are no more types than patterns, whose number is limited.
                indices[type] = UInt16(types.count)
                types.append(type)
            }
            add(String(parts[2]), indices[type, default: 0], weight, isCaseSensitive)
        }
    }

    private mutating func add(
        _ pattern: String, _ type: UInt16, _ weight: Int16, _ isCaseSensitive: Bool
    ) {
        patterns += 1
        let entry = Entry(type: type, weight: weight, length: UInt8(clamping: pattern.utf8.count))
        let rest = pattern.dropFirst()
        if !Self.isGlob(pattern[...]) {
            Self.add(entry, for: pattern, isCaseSensitive, to: &names)
        } else if pattern.hasPrefix("*"), !rest.isEmpty, !Self.isGlob(rest) {
            Self.add(entry, for: String(rest), isCaseSensitive, to: &endings)
        } else if globs.count < Self.maximumGlobs, pattern.utf8.count <= Self.maximumGlob,
            pattern.utf8.count(where: { $0 == UInt8(ascii: "*") }) <= Self.maximumAsterisks
        {
            let pattern = isCaseSensitive ? pattern : Self.folded(pattern)
            globs.append(Glob(pattern: pattern, isCaseSensitive: isCaseSensitive, entry: entry))
        }
    }

    private static func add(_ entry: Entry, for text: String, _ isExact: Bool, to table: inout Table) {
        if isExact {
            if (table.exact[text]?.weight ?? .min) < entry.weight { table.exact[text] = entry }
        } else {
            let text = folded(text)
            if (table.folded[text]?.weight ?? .min) < entry.weight { table.folded[text] = entry }
        }
    }

    private static func isGlob(_ text: Substring) -> Bool { text.contains { "*?[\\".contains($0) } }

    /// Only letters of ASCII count as the same in both cases.
    private static func folded(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    // MARK: Asking

    /// The MIME type of a file at the path or of the name `path`.
    package func type(of path: [UInt8]) -> String {
        guard path.last != UInt8(ascii: "/") else { return Self.folder }
        let name = String(decoding: path.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
        let folded = Self.folded(name)
        if let entry = names.exact[name] ?? names.folded[folded] { return types[Int(entry.type)] }
        let found = [
            Self.ending(of: name, in: endings.exact), Self.ending(of: folded, in: endings.folded),
            glob(name, folded),
        ]
        let entry = found.compactMap { $0 }.max { $0.weight < $1.weight }
        return entry.map { types[Int($0.type)] } ?? Self.unknown
    }

    /// What the longest ending of `name` stands for that there is.
    private static func ending(of name: String, in table: [String: Entry]) -> Entry? {
        guard !table.isEmpty else { return nil }
        // There is no longer pattern.
        let bytes = name.utf8.suffix(maximumPattern)
        for start in bytes.indices {
            guard let ending = String(bytes[start...]) else { continue }
            if let entry = table[ending] { return entry }
        }
        return nil
    }

    /// What the heaviest, and among those the longest, of the other patterns stands for that the name matches.
    private func glob(_ name: String, _ folded: String) -> Entry? {
        guard name.utf8.count <= Self.maximumPattern else { return nil }
        return globs.filter { fnmatch($0.pattern, $0.isCaseSensitive ? name : folded, 0) == 0 }.map(\.entry)
            .max { ($0.weight, $0.length) < ($1.weight, $1.length) }
    }
}
