// SPDX-License-Identifier: LGPL-2.1-or-later

/// A D-Bus interface as its file declares it, checked: whatever is in here can be generated.
package struct Interface: Equatable {
    /// An argument of a method or signal.
    package struct Argument: Equatable {
        /// In snake_case, as on D-Bus.
        package let name: String
        package let type: CompleteType
        package let documentation: [String]
        package let line: Int
    }

    /// A method.
    package struct Method: Equatable {
        package let name: String
        package let inputs: [Argument]
        package let outputs: [Argument]
        /// The class of callers that may call it.
        package let access: String
        /// Whether whoever serves it may wait for something before it answers.
        package let waits: Bool
        package let documentation: [String]
        package let line: Int
    }

    /// A signal.
    package struct Signal: Equatable {
        package let name: String
        package let arguments: [Argument]
        package let documentation: [String]
        package let line: Int
    }

    /// A property, readable or writable or both.
    package struct Property: Equatable {
        package let name: String
        package let type: CompleteType
        package let isReadable: Bool
        package let isWritable: Bool
        /// The class of callers that may read it.
        package let access: String
        /// The class of callers that may write it.
        package let writeAccess: String
        /// Whether whoever serves it may wait for something before it is written.
        package let waits: Bool
        /// The value of `org.freedesktop.DBus.Property.EmitsChangedSignal`, if the file gives one.
        package let emitsChanged: String?
        package let documentation: [String]
        package let line: Int
    }

    /// The file that it comes from.
    package let path: String
    /// The full name, e.g. `org.example.Handoff.Peer`.
    package let name: String
    /// What its generated types start with, if the file says so.
    package let typeName: String?
    /// The interface's own value of `org.freedesktop.DBus.Property.EmitsChangedSignal`, if the file gives one.
    package let emitsChanged: String?
    /// Whether a server has one function that writes whatever property it is, in place of one for each.
    package let hasCommonSetter: Bool
    /// The text of the comment before it, line by line, without common indentation.
    package let documentation: [String]
    package let line: Int
    package let methods: [Method]
    package let signals: [Signal]
    package let properties: [Property]

    /// What generated types start with: the last component of its name, unless the file says otherwise.
    package var shortName: String {
        typeName ?? name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
    }

    /// The interface in `file`.
    /// - Throws: the first thing that is wrong.
    package init(_ file: SourceFile) throws(GenerationError) {
        self = try InterfaceReader(path: file.path).interface(in: Element.parse(file))
        try checkIdentifiers()
    }

    init(
        path: String, name: String, typeName: String?, emitsChanged: String?, hasCommonSetter: Bool,
        documentation: [String], line: Int, methods: [Method], signals: [Signal], properties: [Property]
    ) {
        self.path = path
        self.name = name
        self.typeName = typeName
        self.emitsChanged = emitsChanged
        self.hasCommonSetter = hasCommonSetter
        self.documentation = documentation
        self.line = line
        self.methods = methods
        self.signals = signals
        self.properties = properties
    }
}

/// A file to generate from.
package struct SourceFile {
    /// The path to name in errors.
    package let path: String
    package let bytes: [UInt8]

    package init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }
}
