// SPDX-License-Identifier: LGPL-2.1-or-later

// MARK: Names on D-Bus

private func isLower(_ character: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
}
private func isUpper(_ character: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character)
}
private func isDigit(_ character: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
}

/// Whether `text` can be a part of an interface's name (D-Bus Specification, "Interface names").
func isElementName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, !isDigit(first) else { return false }
    return text.utf8.allSatisfy { isLower($0) || isUpper($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
}

/// Whether `text` is a name for a member in UpperCamelCase.
func isMemberName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, isUpper(first), text.utf8.count <= 255 else { return false }
    return text.utf8.allSatisfy { isLower($0) || isUpper($0) || isDigit($0) }
}

/// Whether `text` is a name for an argument in snake_case.
func isArgumentName(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLower(first), text.utf8.count <= 255 else { return false }
    return text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && $0.allSatisfy { isLower($0) || isDigit($0) }
    }
}

// MARK: Names in Swift

/// `WebpageURL` as `webpageURL`.
func lowered(_ member: String) -> String { member.prefix(1).lowercased() + member.dropFirst() }

/// `name` where it is declared, or used without a dot before it.
func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

/// `name`, changed if an argument has it.
func unused(_ name: String, _ arguments: [Interface.Argument]) -> String {
    arguments.contains { $0.swiftName == name } ? "\(name)_" : name
}

private let keywords: Set<String> = [
    "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit",
    "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
    "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
    "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
    "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
]

extension Interface.Argument {
    /// `device_id` as `deviceId`.
    package var swiftName: String {
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(String(words.first ?? "")) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}

extension Interface.Method {
    /// The name of its function.
    var swiftName: String { lowered(name) }
    /// The name of the structure that holds its several out arguments, in the interface `interface`.
    func replyName(in interface: Interface) -> String { "\(interface.shortName)\(name)Reply" }
}

extension Interface.Signal {
    /// The name of the function that makes it.
    var swiftName: String { lowered(name) }
    /// The name of the structure that holds its arguments, in the interface `interface`.
    func typeName(in interface: Interface) -> String { "\(interface.shortName)\(name)" }
}

extension Interface.Property {
    /// The name of the requirement that reads it.
    var swiftName: String { lowered(name) }
    /// The name of the function that writes it.
    var setterName: String { "set\(name)" }
}

// MARK: Collisions

extension Interface {
    private typealias Use = (name: String, line: Int)

    private func collision(_ use: Use, _ reason: String) -> GenerationError {
        GenerationError(path: path, line: use.line, reason: "the Swift name \(use.name) \(reason)")
    }

    /// Checks that no two declarations generated for this interface get the same name.
    func checkIdentifiers() throws(GenerationError) {
        var uses: [Use] = methods.map { ($0.swiftName, $0.line) }
        uses += properties.map { ($0.swiftName, $0.line) }
        uses += properties.filter(\.isWritable).map { ($0.setterName, $0.line) }
        try check(uses, against: ["object", "interface", "self", "init"])
        try check(
            signals.map { ($0.swiftName, $0.line) }, against: ["description", "server", "self", "init"])
        let words: Set<String> = ["inout", "let", "self", "var", "init"]
        for method in methods {
            for argument in method.inputs
            where words.contains(argument.swiftName) || argument.swiftName == "timeout" {
                throw collision((argument.swiftName, argument.line), "is not free for an argument")
            }
        }
        for argument in methods.flatMap(\.outputs) + signals.flatMap(\.arguments)
        where words.contains(argument.swiftName) {
            throw collision((argument.swiftName, argument.line), "is not free for an argument")
        }
    }

    private func check(_ uses: [Use], against reserved: Set<String>) throws(GenerationError) {
        var lines: [String: Int] = [:]
        for use in uses {
            if reserved.contains(use.name) { throw collision(use, "is needed by the generated code itself") }
            if let line = lines.updateValue(use.line, forKey: use.name) {
                throw collision(use, "is that of the member in line \(line) already")
            }
        }
    }

    /// The names of the types generated for this interface, with the lines that they come from.
    private var typeNames: [Use] {
        var names: [Use] = ["Server", "Binding", "Proxy"].map { (shortName + $0, line) }
        names += methods.filter { $0.outputs.count > 1 }.map { ($0.replyName(in: self), $0.line) }
        return names + signals.map { ($0.typeName(in: self), $0.line) }
    }

    /// Checks that the types generated for `interfaces` have different names, none of which the generated
    /// code uses for something else.
    static func checkTypeNames(_ interfaces: [Interface]) throws(GenerationError) {
        var paths: [String: String] = [:]
        for interface in interfaces {
            for use in interface.typeNames {
                if usedTypes.contains(use.name) {
                    throw interface.collision(use, "is needed by the generated code itself")
                }
                if let path = paths.updateValue(interface.path, forKey: use.name) {
                    throw interface.collision(use, "comes from \(path) already")
                }
            }
        }
    }

    private static let usedTypes: Set<String> = [
        "AccessClass", "AnyObject", "Bool", "BusName", "Connection", "DBusError", "DBusType", "Double",
        "Duration",
        "ErrorName", "FileDescriptor", "HandoffError", "HandoffNames", "Int", "InterfaceBinding",
        "InterfaceDescription", "InterfaceName", "MainLoop", "MemberName", "Message", "MessageReader",
        "MessageWriter", "MethodCall", "ObjectPath", "RemoteObject", "Sendable", "Signature", "String",
        "Structure",
        "Value", "Void",
    ]
}
