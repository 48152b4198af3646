// SPDX-License-Identifier: LGPL-2.1-or-later

/// Text with braces and indentation.
struct SourceText {
    private(set) var text = ""
    private var depth = 0

    /// Appends one line.
    mutating func line(_ line: String = "") {
        if !line.isEmpty { text += String(repeating: " ", count: 4 * depth) + line }
        text += "\n"
    }

    /// Appends `header {`, what `body` appends, and `}`.
    mutating func block(_ header: String, _ body: (inout SourceText) -> Void) {
        line("\(header) {")
        indented(body)
        line("}")
    }

    /// Appends what `body` appends one level deeper.
    mutating func indented(_ body: (inout SourceText) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// Appends `lines` as documentation.
    mutating func documentation(_ lines: [String]) {
        for text in lines { line(text.isEmpty ? "///" : "/// \(text)") }
    }

    /// Appends the documentation of a method, its arguments included.
    mutating func documentation(_ method: Interface.Method) {
        documentation(method.documentation)
        guard (method.inputs + method.outputs).contains(where: { !$0.documentation.isEmpty }) else { return }
        line("///")
        for input in method.inputs { item("Parameter \(input.swiftName)", input.documentation) }
        if method.outputs.count == 1 { item("Returns", method.outputs[0].documentation) }
    }

    private mutating func item(_ title: String, _ lines: [String]) {
        guard let first = lines.first else { return }
        documentation(["- \(title): \(first)"])
        documentation(lines.dropFirst().map { $0.isEmpty ? "" : "  \($0)" })
    }
}

/// `text` as a Swift string literal on one line.
func literal(_ text: String) -> String { "\"\(escapedForLiteral(text, quote: true))\"" }

/// `text` as it is written in a Swift string literal.
func escapedForLiteral(_ text: String, quote: Bool) -> String {
    var result = ""
    for character in text.unicodeScalars {
        switch character {
        case "\\": result += "\\\\"
        case "\"" where quote: result += "\\\""
        default: result.unicodeScalars.append(character)
        }
    }
    return result
}
