// SPDX-License-Identifier: LGPL-2.1-or-later

/// A structure for each signal.
extension Interface {
    func writeSignals(to source: inout SourceText) {
        for signal in signals { writeSignal(signal, to: &source) }
    }

    private func writeSignal(_ signal: Signal, to source: inout SourceText) {
        source.line()
        source.documentation(signal.documentation)
        source.block("package struct \(signal.typeName(in: self)): Sendable") { source in
            source.documentation(["The name of the signal."])
            source.line("package static let member: MemberName = \(literal(signal.name))")
            for argument in signal.arguments {
                source.documentation(argument.documentation)
                source.line("package let \(argument.declaration)")
            }
            source.line()
            source.documentation([
                "What `message` says, which has come as this signal.",
                "- Throws: `InconsistentMessage` if its arguments have other types.",
            ])
            source.block("package init(_ message: Message) throws(DBusError)") { source in
                writeReading(of: signal, to: &source)
            }
        }
    }

    private func writeReading(of signal: Signal, to source: inout SourceText) {
        let signature = signal.arguments.map(\.type.signature).joined()
        source.block("guard message.signature == \(literal(signature)) else") { source in
            source.line("throw DBusError(")
            source.indented { source in
                source.line(".inconsistentMessage,")
                source.line(
                    "\"\(name).\(signal.name) carries “\(signature)”, not “\\(message.signature)”.\")")
            }
        }
        if signal.arguments.isEmpty { return }
        source.line("var reader = MessageReader(message)")
        for argument in signal.arguments { source.line("self.\(argument.swiftName) = try reader.read()") }
    }
}
