// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// An XML element, not yet checked against what interfaces consist of.
struct Element {
    /// An attribute in its start tag, e.g. `name="Update"`.
    struct Attribute {
        let name: String
        let value: String
    }

    let name: String
    /// The line on which its start tag ends.
    let line: Int
    let attributes: [Attribute]
    /// The comment directly before it.
    let documentation: [String]
    var children: [Element] = []

    /// The largest file that is read.
    static let maximumSize = 256 << 10
    /// The deepest nesting: annotations of arguments are on the fifth level.
    static let maximumDepth = 8

    /// The outermost elements of `file`.
    static func parse(_ file: SourceFile) throws(GenerationError) -> [Element] {
        try checkText(file)
        let parser = ElementParser(path: file.path)
        parser.run(file.bytes)
        if let failure = parser.failure { throw failure }
        return parser.roots
    }

    /// Checks that `file` is text that XML allows.
    private static func checkText(_ file: SourceFile) throws(GenerationError) {
        guard file.bytes.count <= maximumSize else {
            throw GenerationError(
                path: file.path, line: 1,
                reason: "the file is too big: \(file.bytes.count) bytes, at most \(maximumSize) are allowed")
        }
        var number = 0
        for line in file.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard String(validating: line, as: UTF8.self) != nil else {
                throw GenerationError(path: file.path, line: number, reason: "the text is not valid UTF-8")
            }
            guard !line.contains(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7f }) else {
                throw GenerationError(
                    path: file.path, line: number,
                    reason: "control characters, carriage returns among them, are not allowed")
            }
        }
    }
}

/// The lines of a comment without common indentation and without blank lines around them.
func documentation(inComment text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        var line = line
        while let last = line.last, last == " " || last == "\t" { line.removeLast() }
        return line
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    // What follows the opening of the comment on its own line says nothing about indentation.
    let first = lines.first.map { $0.drop { $0 == " " || $0 == "\t" } } ?? ""
    if !lines.isEmpty { lines.removeFirst() }
    let indentation =
        lines.lazy.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " || $0 == "\t" }.count }.min() ?? 0
    var result = lines.map { String($0.dropFirst(indentation)) }
    if first.isEmpty {
        while result.first?.isEmpty == true { result.removeFirst() }
    } else {
        result.insert(String(first), at: 0)
    }
    return result
}
