// SPDX-License-Identifier: LGPL-2.1-or-later

/// Checks elements against what interfaces consist of.
struct InterfaceReader {
    let path: String

    /// The one interface of a file with these outermost elements.
    func interface(in roots: [Element]) throws(GenerationError) -> Interface {
        guard let node = roots.first else {
            throw GenerationError(path: path, line: 1, reason: "there is no node element")
        }
        guard node.name == "node" else {
            throw failure(node, "expected the element node, found \(shown(node))")
        }
        if roots.count > 1 { throw failure(roots[1], "only one element may stand at the top of a file") }
        _ = try attributes(of: node, required: [])
        try checkChildren(of: node, ["interface"])
        guard let element = node.children.first else { throw failure(node, "the file declares no interface") }
        if node.children.count > 1 {
            throw failure(node.children[1], "a file declares one interface; this is the second")
        }
        return try interface(element)
    }

    private func interface(_ element: Element) throws(GenerationError) -> Interface {
        // What is wrong with the name comes first, unless an annotation may have mended it.
        let hasTypeName = element.children.contains { child in
            child.attributes.contains { $0.name == "name" && $0.value == Annotation.typeName.rawValue }
        }
        if !hasTypeName { _ = try interfaceName(of: element, typeName: nil) }
        try checkChildren(of: element, ["annotation", "method", "signal", "property"])
        let annotations = try annotations(
            of: element, [.access, .writeAccess, .setter, .typeName, .emitsChanged])
        let name = try interfaceName(of: element, typeName: annotations[.typeName])
        var (methods, signals, properties): ([Interface.Method], [Interface.Signal], [Interface.Property]) =
            ([], [], [])
        var lines: [String: Int] = [:]
        for child in element.children where child.name != "annotation" {
            let member = try memberName(of: child)
            if let line = lines.updateValue(child.line, forKey: member) {
                throw failure(child, "there is a member \(member) already, in line \(line)")
            }
            switch child.name {
            case "method": methods.append(try method(child, member, defaults: annotations))
            case "signal": signals.append(try signal(child, member))
            default: properties.append(try property(child, member, defaults: annotations))
            }
        }
        let hasCommonSetter = annotations[.setter] == "common"
        if hasCommonSetter, let waiting = properties.first(where: \.waits) {
            throw failure(
                element, "\(waiting.name) waits, so \(Annotation.setter) can't be “common”")
        }
        if hasCommonSetter && !properties.contains(where: \.isWritable) {
            throw failure(
                element, "\(name) has no property to write, so \(Annotation.setter) can't be “common”")
        }
        return Interface(
            path: path, name: name, typeName: annotations[.typeName],
            emitsChanged: annotations[.emitsChanged],
            hasCommonSetter: hasCommonSetter, documentation: try documentation(of: element, name),
            line: element.line, methods: methods, signals: signals, properties: properties)
    }

    // MARK: Members

    private func method(
        _ element: Element, _ name: String, defaults: [Annotation: String]
    ) throws(GenerationError) -> Interface.Method {
        _ = try attributes(of: element, required: ["name"])
        try checkChildren(of: element, ["annotation", "arg"])
        let annotations = try annotations(of: element, [.access, .waits])
        var (inputs, outputs): ([Interface.Argument], [Interface.Argument]) = ([], [])
        for child in element.children where child.name == "arg" {
            let (argument, direction) = try argument(child)
            if argument.type.holdsDescriptor && !argument.type.isDescriptor {
                throw failure(child, "a file descriptor (type h) can only be an argument of its own")
            }
            if direction == "out" { outputs.append(argument) } else { inputs.append(argument) }
        }
        try checkUnique(inputs)
        try checkUnique(outputs)
        guard let access = annotations[.access] ?? defaults[.access] else {
            throw failure(
                element, "nothing says who may call \(name): add the annotation \(Annotation.access)")
        }
        return Interface.Method(
            name: name, inputs: inputs, outputs: outputs, access: access,
            waits: annotations[.waits] == "true",
            documentation: try documentation(of: element, name), line: element.line)
    }

    private func signal(_ element: Element, _ name: String) throws(GenerationError) -> Interface.Signal {
        _ = try attributes(of: element, required: ["name"])
        try checkChildren(of: element, ["annotation", "arg"])
        _ = try annotations(of: element, [])
        var arguments: [Interface.Argument] = []
        for child in element.children where child.name == "arg" {
            let (argument, direction) = try argument(child)
            if direction == "in" {
                throw failure(child, "an argument of a signal has no direction but “out”")
            }
            if argument.type.holdsDescriptor {
                throw failure(child, "a signal can't carry file descriptors (type h)")
            }
            arguments.append(argument)
        }
        try checkUnique(arguments)
        return Interface.Signal(
            name: name, arguments: arguments, documentation: try documentation(of: element, name),
            line: element.line)
    }

    private func property(
        _ element: Element, _ name: String, defaults: [Annotation: String]
    ) throws(GenerationError) -> Interface.Property {
        let attributes = try attributes(of: element, required: ["name", "type", "access"])
        try checkChildren(of: element, ["annotation"])
        let annotations = try annotations(of: element, [.access, .writeAccess, .emitsChanged, .waits])
        let type = try type(attributes["type"] ?? "", element)
        if type.holdsDescriptor { throw failure(element, "a property can't hold file descriptors (type h)") }
        let use = attributes["access"] ?? ""
        guard ["read", "write", "readwrite"].contains(use) else {
            throw failure(element, "access is read, write or readwrite, not “\(excerpt(use))”")
        }
        if use == "read" && annotations[.writeAccess] != nil {
            throw failure(element, "\(name) can't be written, so nobody needs \(Annotation.writeAccess)")
        }
        if use == "read" && annotations[.waits] == "true" {
            throw failure(element, "\(name) can't be written, so nobody waits: leave \(Annotation.waits) out")
        }
        if use != "read" && annotations[.emitsChanged] == "const" {
            throw failure(element, "\(name) can be written, so \(Annotation.emitsChanged) can't be “const”")
        }
        guard let access = annotations[.access] ?? defaults[.access] else {
            throw failure(
                element, "nothing says who may use \(name): add the annotation \(Annotation.access)")
        }
        return Interface.Property(
            name: name, type: type, isReadable: use != "write", isWritable: use != "read", access: access,
            writeAccess: annotations[.writeAccess] ?? defaults[.writeAccess] ?? access,
            waits: annotations[.waits] == "true",
            emitsChanged: annotations[.emitsChanged], documentation: try documentation(of: element, name),
            line: element.line)
    }

    // MARK: Arguments

    /// An argument and its direction, nil if the file gives none.
    private func argument(_ element: Element) throws(GenerationError) -> (Interface.Argument, String?) {
        let attributes = try attributes(of: element, required: ["name", "type"], optional: ["direction"])
        try checkChildren(of: element, ["annotation"])
        let isPacked = try annotations(of: element, [.packed])[.packed] == "true"
        let name = attributes["name"] ?? ""
        guard isArgumentName(name) else {
            throw failure(element, "“\(excerpt(name))” is not a name for an argument: write it in snake_case")
        }
        if let direction = attributes["direction"], direction != "in" && direction != "out" {
            throw failure(element, "direction is in or out, not “\(excerpt(direction))”")
        }
        let plain = try type(attributes["type"] ?? "", element)
        guard let type = isPacked ? plain.packed : plain else {
            throw failure(element, "only properties (type a{sv}) can be packed")
        }
        let argument = Interface.Argument(
            name: name, type: type, documentation: element.documentation, line: element.line)
        return (argument, attributes["direction"])
    }

    private func checkUnique(_ arguments: [Interface.Argument]) throws(GenerationError) {
        var names: Set<String> = []
        for argument in arguments where !names.insert(argument.swiftName).inserted {
            throw GenerationError(
                path: path, line: argument.line, reason: "there is an argument \(argument.name) already")
        }
    }

    private func type(_ signature: String, _ element: Element) throws(GenerationError) -> CompleteType {
        guard let type = CompleteType(signature) else {
            throw failure(element, "“\(excerpt(signature))” is not one complete D-Bus type")
        }
        return type
    }
}
