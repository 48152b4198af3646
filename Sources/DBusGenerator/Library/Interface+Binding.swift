// SPDX-License-Identifier: LGPL-2.1-or-later

/// The structure that connects a server with the bus.
extension Interface {
    func writeBinding(to source: inout SourceText) {
        source.documentation(["Serves \(name) by calling a server, which it keeps alive."])
        source.line("@MainLoop")
        source.block("package struct \(shortName)Binding: InterfaceBinding") { source in
            source.line("private let server: any \(shortName)Server")
            source.line()
            source.documentation(["Serves what `server` does."])
            source.line("package init(_ server: any \(shortName)Server) { self.server = server }")
            source.line()
            writeDescription(to: &source)
            writeHandle(to: &source)
            writeRead(to: &source)
            writeWrite(to: &source)
            for signal in signals { writeFactory(of: signal, to: &source) }
        }
        source.line()
    }

    private func writeDescription(to source: inout SourceText) {
        source.line("nonisolated package static let description = InterfaceDescription(")
        source.indented { source in
            source.line("name: \(literal(name)),")
            Self.writeList("methods", methods, to: &source) {
                """
                .init(name: \(literal($0.name)), input: \(literal($0.inputSignature)), \
                access: \(literal($0.access))\(Self.waits($0.waits)))
                """
            }
            Self.writeList("properties", properties, to: &source) {
                """
                .init(name: \(literal($0.name)), signature: \(literal($0.type.signature)), \
                isReadable: \($0.isReadable), isWritable: \($0.isWritable), access: \(literal($0.access)), \
                writeAccess: \(literal($0.writeAccess))\(Self.waits($0.waits)))
                """
            }
            source.line("xml: \"\"\"")
            source.indented { source in
                for line in xml.split(separator: "\n", omittingEmptySubsequences: false) {
                    source.line(escapedForLiteral(String(line), quote: false))
                }
                source.line("\"\"\")")
            }
        }
        source.line()
    }

    private static func waits(_ waits: Bool) -> String { waits ? ", waits: true" : "" }

    private static func writeList<Member>(
        _ label: String, _ members: [Member], to source: inout SourceText, _ text: (Member) -> String
    ) {
        if members.isEmpty { return source.line("\(label): [],") }
        source.line("\(label): [")
        source.indented { source in
            for member in members { source.line("\(text(member)),") }
        }
        source.line("],")
    }

    // MARK: Dispatch

    private func writeHandle(to source: inout SourceText) {
        for waits in [false, true] where !waits || methods.contains(where: \.waits) {
            let name = waits ? "handleWaiting" : "handle"
            source.block(
                "package func \(name)(_ method: Int, _ call: MethodCall) \(waits ? "async " : "")throws -> Message"
            ) { source in
                Self.writeSwitch(over: "method", error: "unknownMethod", in: self.name, to: &source) {
                    source in
                    for (index, method) in methods.enumerated() where method.waits == waits {
                        source.line("case \(index):")
                        source.indented { writeCall(of: method, to: &$0) }
                    }
                    return methods.contains { $0.waits == waits }
                }
            }
            source.line()
        }
    }

    /// Appends a switch with the cases that `body` appends, and an error for everything else. If there are no
    /// cases, there is no switch.
    private static func writeSwitch(
        over subject: String, error: String, in name: String, to source: inout SourceText,
        _ body: (inout SourceText) -> Bool
    ) {
        let failure = "throw DBusError(.\(error), \"\(name) has no \(subject) number \\(\(subject)).\")"
        var cases = source
        cases.line("switch \(subject) {")
        guard body(&cases) else { return source.line(failure) }
        source = cases
        source.line("default: \(failure)")
        source.line("}")
    }

    private func writeCall(of method: Method, to source: inout SourceText) {
        if !method.inputs.isEmpty { source.line("var reader = MessageReader(call.message)") }
        let arguments = method.inputs.map { "\($0.swiftName): \($0.type.reading(from: "reader"))" } + ["call"]
        let expression =
            "try \(method.waits ? "await " : "")server.\(method.swiftName)(\(arguments.joined(separator: ", ")))"
        if method.outputs.isEmpty {
            source.line(expression)
            source.line("return try call.reply()")
            return
        }
        let results = method.outputs.count == 1 ? ["result"] : method.outputs.map { "result.\($0.swiftName)" }
        source.line("let result = \(expression)")
        source.line("return try call.reply { (writer) throws(DBusError) in")
        source.indented { source in
            for result in results { source.line("try writer.write(\(result))") }
        }
        source.line("}")
    }

    private func writeRead(to source: inout SourceText) {
        source.block(
            "package func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError)"
        ) { source in
            Self.writeSwitch(over: "property", error: "unknownProperty", in: name, to: &source) { source in
                for (index, property) in properties.enumerated() where property.isReadable {
                    source.line("case \(index): try writer.write(server.\(property.swiftName))")
                }
                return properties.contains(where: \.isReadable)
            }
        }
        source.line()
    }

    private func writeWrite(to source: inout SourceText) {
        for waits in [false, true] where !waits || properties.contains(where: \.waits) {
            let (name, keyword) = waits ? ("writeWaiting", "async ") : ("write", "")
            let parameters =
                waits
                ? "_ property: Int, from reader: consuming MessageReader, _ call: MethodCall"
                : "_ property: Int, from reader: inout MessageReader, _ call: MethodCall"
            source.block("package func \(name)(\(parameters)) \(keyword)throws") { source in
                if waits { source.line("var reader = reader") }
                Self.writeSwitch(over: "property", error: "unknownProperty", in: self.name, to: &source) {
                    source in
                    let written = properties.enumerated().filter { $1.isWritable && $1.waits == waits }
                    for (index, property) in written {
                        source.line(
                            "case \(index): try \(waits ? "await " : "")server.\(setterCall(of: property))")
                    }
                    return !written.isEmpty
                }
            }
            if !waits, properties.contains(where: \.waits) { source.line() }
        }
    }

    private func setterCall(of property: Property) -> String {
        hasCommonSetter
            ? "set(\(literal(property.name)), to: reader.readAnyValue(), call)"
            : "\(property.setterName)(reader.read(), call)"
    }

    // MARK: Signals

    private func writeFactory(of signal: Signal, to source: inout SourceText) {
        let path = unused("path", signal.arguments)
        let (message, writer) = (unused("signal", signal.arguments), unused("writer", signal.arguments))
        let parameters = ["from \(path): ObjectPath"] + signal.arguments.map { $0.parameter("borrowing") }
        source.line()
        source.documentation(["The signal \(signal.name), for everyone unless it is given a destination."])
        source.block(
            "package static func \(escaped(signal.swiftName))(\(parameters.joined(separator: ", ")))"
                + " throws(DBusError) -> Message"
        ) { source in
            let make =
                "try Message.signal(from: \(path), Self.description.name, \(signal.typeName(in: self)).member)"
            if signal.arguments.isEmpty { return source.line("return \(make)") }
            source.line("let \(message) = \(make)")
            source.line("var \(writer) = MessageWriter(\(message))")
            for argument in signal.arguments { source.line("try \(writer).write(\(argument.expression))") }
            source.line("return \(message)")
        }
    }
}
