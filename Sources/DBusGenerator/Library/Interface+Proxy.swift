// SPDX-License-Identifier: LGPL-2.1-or-later

/// The structure through which an interface that somebody else serves is called.
extension Interface {
    func writeProxy(to source: inout SourceText) {
        source.documentation(["Calls \(name) of an object of somebody else."])
        source.line("@MainLoop")
        source.block("package struct \(shortName)Proxy") { source in
            source.documentation(["The name of the interface."])
            source.line("nonisolated package static let interface: InterfaceName = \(literal(name))")
            source.documentation(["The object that is called."])
            source.line("package let object: RemoteObject")
            source.line()
            source.documentation(["Calls `object`."])
            source.line("package init(_ object: RemoteObject) { self.object = object }")
            writeMembers(to: &source)
            for method in methods { writeCaller(of: method, to: &source) }
            for property in properties { writeAccessors(of: property, to: &source) }
        }
    }

    /// The names of the methods, checked once.
    private func writeMembers(to source: inout SourceText) {
        guard !methods.isEmpty else { return }
        source.line()
        source.block("private enum Member") { source in
            for method in methods {
                source.line("static let \(escaped(method.swiftName)): MemberName = \(literal(method.name))")
            }
        }
    }

    private func writeCaller(of method: Method, to source: inout SourceText) {
        let reply = unused("reply", method.inputs)
        let parameters =
            method.inputs.map { $0.parameter("borrowing") }
            + ["timeout: Duration? = \(method.waits ? "Connection.defaultTimeout" : "nil")"]
        source.line()
        source.documentation(method)
        source.block(
            "package func \(escaped(method.swiftName))(\(parameters.joined(separator: ", "))) async throws"
                + method.result(in: self)
        ) { source in
            source.line("\(method.outputs.isEmpty ? "_" : "let \(reply)") = try await self.object.call(")
            source.indented { source in
                let output = literal(method.outputSignature)
                source.line("Self.interface, Member.\(method.swiftName), output: \(output), timeout: timeout")
            }
            writeArguments(of: method, to: &source)
            if method.outputs.isEmpty { return }
            let reader = unused("reader", method.inputs)
            source.line("var \(reader) = MessageReader(\(reply))")
            source.line("return try \(method.resultReading(from: reader, in: self))")
        }
    }

    private func writeArguments(of method: Method, to source: inout SourceText) {
        if method.inputs.isEmpty { return source.line(") { (_) throws(DBusError) in }") }
        let writer = unused("writer", method.inputs)
        source.line(") { (\(writer)) throws(DBusError) in")
        source.indented { source in
            for input in method.inputs { source.line("try \(writer).write(\(input.expression))") }
        }
        source.line("}")
    }

    private func writeAccessors(of property: Property, to source: inout SourceText) {
        if property.isReadable {
            source.line()
            source.documentation(property.documentation)
            source.block(
                "package func \(escaped(property.swiftName))() async throws -> \(property.type.swift)"
            ) { source in
                source.line("try await object.property(Self.interface, \(literal(property.name)))")
            }
        }
        if property.isWritable {
            source.line()
            source.documentation(property.setterDocumentation)
            source.block("package \(property.setter()) async throws") { source in
                source.line("try await object.setProperty(Self.interface, \(literal(property.name)), value)")
            }
        }
    }
}

extension Interface.Method {
    /// The expression that reads what it returns.
    fileprivate func resultReading(from reader: String, in interface: Interface) -> String {
        if outputs.count == 1 { return outputs[0].type.reading(from: reader) }
        let arguments = outputs.map { "\($0.swiftName): \($0.type.reading(from: reader))" }
        return "\(replyName(in: interface))(\(arguments.joined(separator: ", ")))"
    }
}
