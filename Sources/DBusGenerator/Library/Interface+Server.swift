// SPDX-License-Identifier: LGPL-2.1-or-later

/// The protocol that whoever serves the interface conforms to.
extension Interface {
    func writeServer(to source: inout SourceText) {
        source.documentation(documentation)
        source.line("@MainLoop")
        source.block("package protocol \(shortName)Server: AnyObject") { source in
            for method in methods {
                source.documentation(method)
                source.line(method.requirement(in: self))
            }
            for property in properties {
                if property.isReadable {
                    source.documentation(property.documentation)
                    source.line("var \(escaped(property.swiftName)): \(property.type.swift) { get }")
                }
                if property.isWritable && !hasCommonSetter {
                    source.documentation(property.setterDocumentation)
                    source.line(
                        "\(property.setter("_ call: MethodCall")) \(property.waits ? "async " : "")throws")
                }
            }
            if hasCommonSetter {
                source.documentation([
                    "Sets the property of this name, which can be written, to `value`, which has its type."
                ])
                source.line("func set(_ property: String, to value: Value, _ call: MethodCall) throws")
            }
        }
        source.line()
        for method in methods where method.outputs.count > 1 { writeReply(of: method, to: &source) }
    }

    /// The structure that holds the several out arguments of `method`. It is frozen so that other modules can
    /// take a descriptor out of it.
    private func writeReply(of method: Method, to source: inout SourceText) {
        let holdsDescriptor = method.outputs.contains { $0.type.isDescriptor }
        let name = method.replyName(in: self)
        source.documentation(["What \(method.name) of \(self.name) returns."])
        source.line("@frozen")
        source.block("package struct \(name): \(holdsDescriptor ? "~Copyable, Sendable" : "Sendable")") {
            source in
            for output in method.outputs {
                source.documentation(output.documentation)
                source.line("package let \(output.declaration)")
            }
            source.line()
            source.documentation(["A reply with these values."])
            let parameters = method.outputs.map { $0.parameter("consuming") }.joined(separator: ", ")
            source.block("package init(\(parameters))") { source in
                for output in method.outputs {
                    source.line("self.\(output.swiftName) = \(output.expression)")
                }
            }
        }
        source.line()
    }
}

extension Interface.Argument {
    /// Its Swift name in an expression.
    var expression: String { escaped(swiftName) }

    /// Its declaration as a stored property.
    var declaration: String { "\(escaped(swiftName)): \(type.swift)" }

    /// Its declaration as a parameter; a descriptor is passed with `ownership`.
    func parameter(_ ownership: String) -> String {
        "\(swiftName): \(type.isDescriptor ? "\(ownership) " : "")\(type.swift)"
    }
}

extension CompleteType {
    /// The expression that reads it from `reader`.
    func reading(from reader: String) -> String {
        isDescriptor ? "\(reader).readFileDescriptor()" : "\(reader).read()"
    }
}

extension Interface.Method {
    /// The signatures of the call's and the reply's arguments.
    var inputSignature: String { inputs.map(\.type.signature).joined() }
    var outputSignature: String { outputs.map(\.type.signature).joined() }

    /// The arrow and the Swift type of what it returns, if it returns anything.
    func result(in interface: Interface) -> String {
        switch outputs.count {
        case 0: ""
        case 1: " -> \(outputs[0].type.swift)"
        default: " -> \(replyName(in: interface))"
        }
    }

    fileprivate func requirement(in interface: Interface) -> String {
        let call = unused("call", inputs)
        let parameters = inputs.map { $0.parameter("consuming") } + ["_ \(call): MethodCall"]
        let list = parameters.joined(separator: ", ")
        return "func \(escaped(swiftName))(\(list)) \(waits ? "async " : "")throws\(result(in: interface))"
    }
}

extension Interface.Property {
    /// The function that writes it, with further parameters.
    func setter(_ parameters: String...) -> String {
        let list = ["_ value: \(type.swift)"] + parameters
        return "func \(setterName)(\(list.joined(separator: ", ")))"
    }

    /// The documentation of the function that writes it.
    var setterDocumentation: [String] { isReadable ? ["Sets \(name)."] : documentation }
}
