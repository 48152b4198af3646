// SPDX-License-Identifier: LGPL-2.1-or-later

/// The grammar of one kind of D-Bus name.
package protocol NameGrammar: Sendable {
    /// What such a name is called in messages to people.
    static var noun: String { get }
    /// Whether `text` is such a name (D-Bus Specification, "Valid Names" and
    /// "Valid Object Paths").
    static func isValid(_ text: String) -> Bool
}

/// A D-Bus name that has been checked: a bus disconnects whoever sends an invalid one, so none leaves the process.
package struct Name<Grammar: NameGrammar>: Hashable, Sendable, Comparable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    /// The name itself.
    package let text: String

    /// The checked name.
    /// - Throws: `InvalidArgs`, with the text, if it is not such a name.
    package init(_ text: String) throws(DBusError) {
        guard Grammar.isValid(text) else {
            throw .invalidArgs("“\(text.prefix(256))” is not a valid \(Grammar.noun).")
        }
        self.text = text
    }

    /// A name in the source code. An invalid one is a programming error, and ends the process here.
    package init(stringLiteral value: StaticString) {
        let text = "\(value)"
        precondition(Grammar.isValid(text), "not a valid \(Grammar.noun)")
        self.text = text
    }

    /// A name that was put together from what the source code and the options of the build say. An invalid one is a programming
    /// error, and ends the process here.
    package init(built text: String) {
        precondition(Grammar.isValid(text), "not a valid \(Grammar.noun)")
        self.text = text
    }

    /// A name that has been checked already, in a message.
    init(validated text: String) { self.text = text }

    /// The name itself.
    package var description: String { text }

    /// Orders names by their text.
    package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// An object path, e.g. `/org/example/Handoff`.
package typealias ObjectPath = Name<ObjectPathGrammar>
/// An interface name, e.g. `org.example.Handoff.Manager`.
package typealias InterfaceName = Name<InterfaceNameGrammar>
/// The name of a method, signal or property.
package typealias MemberName = Name<MemberNameGrammar>
/// A unique or well-known bus name.
package typealias BusName = Name<BusNameGrammar>
/// The name of an error.
package typealias ErrorName = Name<ErrorNameGrammar>

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// See ``ObjectPath``.
package enum ObjectPathGrammar: NameGrammar {
    package static let noun = "object path"
    package static func isValid(_ text: String) -> Bool { NameCheck.isPath(text.utf8.span) }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// See ``InterfaceName``.
package enum InterfaceNameGrammar: NameGrammar {
    package static let noun = "interface name"
    package static func isValid(_ text: String) -> Bool { NameCheck.isInterface(text.utf8.span) }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// See ``MemberName``.
package enum MemberNameGrammar: NameGrammar {
    package static let noun = "member name"
    package static func isValid(_ text: String) -> Bool { NameCheck.isMember(text.utf8.span) }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// See ``BusName``.
package enum BusNameGrammar: NameGrammar {
    package static let noun = "bus name"
    package static func isValid(_ text: String) -> Bool { NameCheck.isBusName(text.utf8.span) }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// See ``ErrorName``.
package enum ErrorNameGrammar: NameGrammar {
    package static let noun = "error name"
    package static func isValid(_ text: String) -> Bool { NameCheck.isInterface(text.utf8.span) }
}

extension InterfaceName {
    /// Whether it is, or begins like, the interface that D-Bus reserves for itself; see
    /// ``ObjectPath/isReserved``.
    var isReserved: Bool { text.begins(with: "org.freedesktop.DBus.Local") }
}

extension String {
    /// Whether the first bytes of this, in UTF-8, are those of `prefix`.
    fileprivate func begins(with prefix: String) -> Bool {
        let (bytes, prefix) = (utf8.span, prefix.utf8.span)
        guard bytes.count >= prefix.count else { return false }
        for index in 0..<prefix.count where bytes[index] != prefix[index] { return false }
        return true
    }
}

extension ObjectPath {
    /// Whether it is the path that D-Bus reserves for messages within a process (D-Bus Specification,
    /// "Message Format"), or begins like it: libdbus, which buses are built on, compares only the beginning.
    package var isReserved: Bool { text.begins(with: "/org/freedesktop/DBus/Local") }

    /// The root path.
    package static let root: ObjectPath = "/"

    /// The path of the child `element`.
    /// - Throws: `InvalidArgs` if `element` has characters other than letters, digits and underscores.
    package func appending(_ element: String) throws(DBusError) -> ObjectPath {
        try ObjectPath(text == "/" ? "/\(element)" : "\(text)/\(element)")
    }

    /// What follows `ancestor/` in this path, or nil if it is not below `ancestor`.
    package func suffix(below ancestor: ObjectPath) -> Substring? {
        guard isBelow(ancestor) else { return nil }
        let count = ancestor == .root ? 1 : ancestor.text.utf8.count + 1
        return text[text.utf8.index(text.startIndex, offsetBy: count)...]
    }

    /// Whether this is a path of something within `ancestor`.
    func isBelow(_ ancestor: ObjectPath) -> Bool {
        let (path, ancestor) = (text.utf8.span, ancestor.text.utf8.span)
        // The slash after the ancestor; the root is a slash itself.
        let slash = ancestor.count == 1 ? 0 : ancestor.count
        guard path.count > slash + 1, path[slash] == UInt8(ascii: "/") else { return false }
        for index in 0..<slash where path[index] != ancestor[index] { return false }
        return true
    }

    /// Calls `body` with each path that this one is below.
    func forEachAncestor(_ body: (ObjectPath) -> Void) {
        guard self != .root else { return }
        body(.root)
        let bytes = text.utf8.span
        for index in 1..<bytes.count where bytes[index] == UInt8(ascii: "/") {
            body(ObjectPath(validated: String(decoding: text.utf8.prefix(index), as: UTF8.self)))
        }
    }

    /// The last element, empty for the root.
    package var lastElement: Substring {
        text.utf8.lastIndex(of: UInt8(ascii: "/")).map { text[text.utf8.index(after: $0)...] } ?? ""
    }
}
