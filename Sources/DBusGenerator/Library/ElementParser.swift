// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Turns what GLib's parser reports into elements, and stops it at the first thing that is wrong.
final class ElementParser {
    private let path: String
    /// The elements that have begun and not ended.
    private var open: [Element] = []
    private var comment: [String] = []
    private(set) var roots: [Element] = []
    private(set) var failure: GenerationError?

    init(path: String) { self.path = path }

    private typealias ErrorPointer = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?

    /// Parses all of `bytes`.
    func run(_ bytes: [UInt8]) {
        var parser = GMarkupParser()
        parser.start_element = { context, name, names, values, data, error in
            ElementParser.with(data, context, error) { $0.began(name, names, values, line: $1) }
        }
        parser.end_element = { context, _, data, error in
            ElementParser.with(data, context, error) { parser, _ in parser.ended() }
        }
        parser.text = { context, text, count, data, error in
            ElementParser.with(data, context, error) { $0.text(text, Int(count), line: $1) }
        }
        parser.passthrough = { context, text, count, data, error in
            ElementParser.with(data, context, error) { $0.passthrough(text, Int(count), line: $1) }
        }
        withUnsafePointer(to: &parser) { parser in
            let data = Unmanaged.passUnretained(self).toOpaque()
            guard let context = g_markup_parse_context_new(parser, GMarkupParseFlags(rawValue: 0), data, nil)
            else {
                return
            }
            defer { g_markup_parse_context_free(context) }
            feed(bytes, to: context)
        }
    }

    private func feed(_ bytes: [UInt8], to context: OpaquePointer) {
        var error: UnsafeMutablePointer<GError>?
        let done = bytes.withUnsafeBytes { buffer in
            g_markup_parse_context_parse(
                context, buffer.bindMemory(to: CChar.self).baseAddress, buffer.count, &error) != 0
                && g_markup_parse_context_end_parse(context, &error) != 0
        }
        defer { g_clear_error(&error) }
        guard !done, failure == nil else { return }
        let text = error.flatMap { $0.pointee.message }.map { String(cString: $0) } ?? "unknown reason"
        // GLib puts "Error on line 1 char 1: " before its messages.
        let reason = text.hasPrefix("Error on line") ? text.drop { $0 != ":" }.dropFirst(2) : text[...]
        // What the message quotes from the file may span several lines.
        let line = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
        fail(Self.line(context), "the XML is malformed: \(line)")
    }

    /// The line of the last character that was read.
    private static func line(_ context: OpaquePointer?) -> Int {
        var (line, column): (Int32, Int32) = (1, 1)
        g_markup_parse_context_get_position(context, &line, &column)
        // The position is that of the next character, and GLib counts a line break as part of the next line.
        return column == 1 ? max(1, Int(line) - 1) : Int(line)
    }

    /// Lets `body` handle an event, and stops the parser if that finds something wrong.
    private static func with(
        _ data: UnsafeMutableRawPointer?, _ context: OpaquePointer?, _ error: ErrorPointer,
        _ body: (ElementParser, Int) -> Void
    ) {
        guard let data else { return }
        let parser = Unmanaged<ElementParser>.fromOpaque(data).takeUnretainedValue()
        body(parser, line(context))
        guard let failure = parser.failure else { return }
        g_set_error_literal(
            error, g_markup_error_quark(), Int32(G_MARKUP_ERROR_INVALID_CONTENT.rawValue), failure.reason)
    }

    private func fail(_ line: Int, _ reason: String) {
        failure = failure ?? GenerationError(path: path, line: line, reason: reason)
    }

    // MARK: Events

    private typealias Strings = UnsafeMutablePointer<UnsafePointer<CChar>?>?

    private func began(_ name: UnsafePointer<CChar>?, _ names: Strings, _ values: Strings, line: Int) {
        guard let name, let names, let values else { return }
        guard open.count < Element.maximumDepth else { return fail(line, "the elements nest too deeply") }
        var attributes: [Element.Attribute] = []
        while let name = names[attributes.count], let value = values[attributes.count] {
            attributes.append(Element.Attribute(name: String(cString: name), value: String(cString: value)))
        }
        open.append(
            Element(name: String(cString: name), line: line, attributes: attributes, documentation: comment))
        comment = []
    }

    private func ended() {
        comment = []
        guard let element = open.popLast() else { return }
        if open.isEmpty { roots.append(element) } else { open[open.count - 1].children.append(element) }
    }

    private func text(_ text: UnsafePointer<CChar>?, _ count: Int, line: Int) {
        let text = Self.string(text, count)
        guard let start = text.firstIndex(where: { !$0.isWhitespace }) else { return }
        // Line breaks that the file writes as character references do not end its lines.
        let first = max(open.last?.line ?? 1, line - lineBreaks(in: text[start...]))
        fail(first, "text is not allowed here: “\(excerpt(text))”")
    }

    /// Handles what is neither an element nor text: comments, and what may come at the top of a file.
    private func passthrough(_ text: UnsafePointer<CChar>?, _ count: Int, line: Int) {
        let text = Self.string(text, count)
        if text.hasPrefix("<!--"), text.hasSuffix("-->") {
            comment = documentation(inComment: String(text.dropFirst(4).dropLast(3)))
        } else if open.isEmpty && roots.isEmpty && (text.hasPrefix("<?xml ") || text.hasPrefix("<!DOCTYPE "))
        {
            comment = []
        } else {
            fail(line - lineBreaks(in: text[...]), "this is not allowed here: “\(excerpt(text))”")
        }
    }

    private static func string(_ text: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : count), as: UTF8.self)
    }
}

private func lineBreaks(in text: Substring) -> Int { text.utf8.count { $0 == UInt8(ascii: "\n") } }

/// Enough of `text` to recognise it, on one line.
func excerpt(_ text: String) -> String {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.count > 60 ? "\(words.prefix(60))…" : words
}
