// SPDX-License-Identifier: LGPL-2.1-or-later

/// The annotations that are understood.
enum Annotation: String, CustomStringConvertible {
    case access = "org.example.Handoff.Access"
    case writeAccess = "org.example.Handoff.WriteAccess"
    case setter = "org.example.Handoff.Setter"
    case waits = "org.example.Handoff.Waits"
    case packed = "org.example.Handoff.Packed"
    case typeName = "org.example.Handoff.TypeName"
    case emitsChanged = "org.freedesktop.DBus.Property.EmitsChangedSignal"

    var description: String { rawValue }

    /// The values that it may have; nil if they are not a few words.
    var values: [String]? {
        switch self {
        case .access, .writeAccess:
            ["any", "owner", "unsandboxed", "bridge", "broker", "agent", "stranger", "paired", "routed"]
        case .setter: ["own", "common"]
        case .waits, .packed: ["true", "false"]
        case .typeName: nil
        case .emitsChanged: ["true", "invalidates", "const", "false"]
        }
    }
}

/// Rules that hold for every element.
extension InterfaceReader {
    func failure(_ element: Element, _ reason: String) -> GenerationError {
        GenerationError(path: path, line: element.line, reason: reason)
    }

    func shown(_ element: Element) -> String { excerpt(element.name) }

    /// The attributes of `element` by name, which are all of `required` and some of `optional`.
    func attributes(
        of element: Element, required: [String], optional: [String] = []
    ) throws(GenerationError) -> [String: String] {
        var values: [String: String] = [:]
        for attribute in element.attributes {
            guard required.contains(attribute.name) || optional.contains(attribute.name) else {
                throw failure(element, "\(shown(element)) has no attribute \(excerpt(attribute.name))")
            }
            guard values.updateValue(attribute.value, forKey: attribute.name) == nil else {
                throw failure(element, "the attribute \(attribute.name) of \(shown(element)) is given twice")
            }
        }
        for name in required where values[name] == nil {
            throw failure(element, "the attribute \(name) of \(shown(element)) is missing")
        }
        return values
    }

    func checkChildren(of element: Element, _ names: [String]) throws(GenerationError) {
        for child in element.children where !names.contains(child.name) {
            throw failure(child, "the element \(shown(child)) is not allowed in \(shown(element))")
        }
    }

    /// The annotations of `element`, of which `known` are allowed there.
    func annotations(
        of element: Element, _ known: [Annotation]
    ) throws(GenerationError) -> [Annotation: String] {
        var annotations: [Annotation: String] = [:]
        for child in element.children where child.name == "annotation" {
            let attributes = try attributes(of: child, required: ["name", "value"])
            try checkChildren(of: child, [])
            let (name, value) = (attributes["name"] ?? "", attributes["value"] ?? "")
            if Self.isForeign(name, element) { continue }
            guard let annotation = Annotation(rawValue: name), known.contains(annotation) else {
                throw failure(child, "the annotation “\(excerpt(name))” is not known for \(shown(element))")
            }
            try check(value, of: annotation, child)
            guard annotations.updateValue(value, forKey: annotation) == nil else {
                throw failure(child, "the annotation \(annotation) is given twice")
            }
        }
        return annotations
    }

    /// Whether the annotation is one for the generators of other languages, which mean nothing here: the type that a value has
    /// in Qt (of a property, or of an argument of a method or signal by its place), and that a method carries descriptors.
    private static func isForeign(_ name: String, _ element: Element) -> Bool {
        let type = "org.qtproject.QtDBus.QtTypeName"
        switch element.name {
        case "property": return name == type
        case "signal": return name.hasPrefix(type + ".")
        case "method": return name.hasPrefix(type + ".") || name == "org.gtk.GDBus.C.UnixFD"
        default: return false
        }
    }

    private func check(
        _ value: String, of annotation: Annotation, _ element: Element
    ) throws(GenerationError) {
        if let values = annotation.values {
            guard values.contains(value) else {
                let expected = values.joined(separator: ", ")
                throw failure(element, "\(annotation) is one of \(expected), not “\(excerpt(value))”")
            }
        } else if !isMemberName(value) {
            throw failure(
                element, "\(annotation) is a name in UpperCamelCase, not “\(excerpt(value))”")
        }
    }

    /// The text of the comment before `element`, which must have one.
    func documentation(of element: Element, _ name: String) throws(GenerationError) -> [String] {
        guard !element.documentation.isEmpty else {
            throw failure(element, "\(name) is not documented: describe it in a comment directly before it")
        }
        return element.documentation
    }

    /// The name of an interface. The name of one of another project may end in a word that is none for a type of Swift,
    /// if an annotation gives the `typeName`.
    func interfaceName(of element: Element, typeName: String?) throws(GenerationError) -> String {
        let name = try attributes(of: element, required: ["name"])["name"] ?? ""
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, name.utf8.count <= 255, parts.allSatisfy(isElementName),
            let last = parts.last, typeName != nil || isMemberName(last)
        else {
            throw failure(
                element,
                "“\(excerpt(name))” is not a name for an interface, which is one like org.example.Name")
        }
        return name
    }

    func memberName(of element: Element) throws(GenerationError) -> String {
        guard let name = element.attributes.first(where: { $0.name == "name" })?.value else {
            throw failure(element, "the attribute name of \(shown(element)) is missing")
        }
        guard isMemberName(name) else {
            throw failure(
                element, "“\(excerpt(name))” is not a name for a \(element.name): write it in UpperCamelCase")
        }
        return name
    }
}
