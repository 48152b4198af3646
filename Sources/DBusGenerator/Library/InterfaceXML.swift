// SPDX-License-Identifier: LGPL-2.1-or-later

extension Interface {
    /// The `<interface>` element for `Introspect`, indented by two, documentation in annotations. Annotations
    /// that are meant only for this project, about who may do what, are left out.
    package var xml: String {
        var lines = ["  <interface name=\"\(name)\">"]
        lines += annotations("    ", documentation, emitsChanged: emitsChanged)
        for method in methods {
            lines += Self.element(
                "method name=\"\(method.name)\"", "    ",
                annotations("      ", method.documentation) + arguments(method.inputs, direction: "in")
                    + arguments(method.outputs, direction: "out"))
        }
        for signal in signals {
            lines += Self.element(
                "signal name=\"\(signal.name)\"", "    ",
                annotations("      ", signal.documentation) + arguments(signal.arguments, direction: nil))
        }
        for property in properties {
            let access = (property.isReadable ? "read" : "") + (property.isWritable ? "write" : "")
            lines += Self.element(
                "property name=\"\(property.name)\" type=\"\(property.type.signature)\" access=\"\(access)\"",
                "    ",
                annotations("      ", property.documentation, emitsChanged: property.emitsChanged))
        }
        return (lines + ["  </interface>"]).joined(separator: "\n") + "\n"
    }

    private static func element(_ tag: String, _ indentation: String, _ content: [String]) -> [String] {
        if content.isEmpty { return ["\(indentation)<\(tag)/>"] }
        return ["\(indentation)<\(tag)>"] + content + ["\(indentation)</\(tag.prefix { $0 != " " })>"]
    }

    private func arguments(_ arguments: [Argument], direction: String?) -> [String] {
        let direction = direction.map { " direction=\"\($0)\"" } ?? ""
        return arguments.flatMap { argument in
            Self.element(
                "arg type=\"\(argument.type.signature)\" name=\"\(argument.name)\"\(direction)", "      ",
                annotations("        ", argument.documentation))
        }
    }

    private func annotations(
        _ indentation: String, _ documentation: [String], emitsChanged: String? = nil
    ) -> [String] {
        var lines: [String] = []
        if !documentation.isEmpty {
            let value = documentation.map(attributeText).joined(separator: "&#10;")
            lines.append("\(indentation)<annotation name=\"org.gtk.GDBus.DocString\" value=\"\(value)\"/>")
        }
        if let emitsChanged {
            lines.append(
                "\(indentation)<annotation name=\"\(Annotation.emitsChanged)\" value=\"\(emitsChanged)\"/>")
        }
        return lines
    }
}

/// `text` as it is written in an attribute.
private func attributeText(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
        switch character {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "\t": result += "&#9;"
        default: result.unicodeScalars.append(character)
        }
    }
    return result
}
