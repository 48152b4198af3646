// SPDX-License-Identifier: LGPL-2.1-or-later
public import MainLoop

/// What the generator knows about an interface: enough to dispatch calls, to check who may do what, and to
/// answer `Introspect`. There is one for each interface, so that nothing of it is copied.
public final class InterfaceDescription: Sendable {
    /// A method.
    public struct Method: Sendable {
        /// Its name.
        public let name: String
        /// The signature of its arguments.
        public let input: String
        /// The signature of its reply.
        public let output: String
        /// Who may call it.
        public let access: AccessClass

        /// A method.
        public init(name: String, input: String, output: String, access: AccessClass) {
            self.name = name
            self.input = input
            self.output = output
            self.access = access
        }
    }

    /// A property.
    public struct Property: Sendable {
        /// Its name.
        public let name: String
        /// One complete type.
        public let signature: String
        /// Whether it can be read.
        public let isReadable: Bool
        /// Whether it can be written.
        public let isWritable: Bool
        /// Who may read it.
        public let access: AccessClass
        /// Who may write it.
        public let writeAccess: AccessClass

        /// A property.
        public init(
            name: String, signature: String, isReadable: Bool, isWritable: Bool, access: AccessClass,
            writeAccess: AccessClass
        ) {
            self.name = name
            self.signature = signature
            self.isReadable = isReadable
            self.isWritable = isWritable
            self.access = access
            self.writeAccess = writeAccess
        }
    }

    /// Its name.
    public let name: InterfaceName
    /// Its methods; their positions are the indices that a binding is given.
    public let methods: [Method]
    /// Its properties; their positions are the indices that a binding is given.
    public let properties: [Property]
    /// The names of its signals.
    public let signals: [String]
    /// The `<interface>` element, documentation included.
    public let xml: String
    private let methodNames: [String]
    private let propertyNames: [String]

    /// An interface.
    public init(
        name: InterfaceName, methods: [Method], properties: [Property], signals: [String], xml: String
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
        self.xml = xml
        methodNames = methods.map(\.name)
        propertyNames = properties.map(\.name)
    }

    /// The index of the method of this name, nil if there is none.
    func method(named name: String) -> Int? { methodNames.firstIndex(of: name) }

    /// The index of the property of this name, nil if there is none.
    func property(named name: String) -> Int? { propertyNames.firstIndex(of: name) }
}

/// A class of callers, as the interface's XML names it (annotation `org.example.Handoff.Access`). What a class
/// means is for the ``AccessPolicy`` to say.
public struct AccessClass: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The class itself, as the XML writes it.
    public let name: String
    /// A class in the source code.
    public init(stringLiteral name: String) { self.name = name }
    /// The class itself.
    public var description: String { name }
}

/// An interface as an object serves it. Generated from the interface's XML.
@MainLoop
public protocol InterfaceBinding {
    /// What it serves.
    static var description: InterfaceDescription { get }
    /// Runs the method with the index `method` in the description and returns the reply. The signature of the
    /// call's arguments has been checked.
    func handle(_ method: Int, _ call: MethodCall) async throws -> Message
    /// Appends the value of the property with the index `property`, directly and not in a variant.
    func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError)
    /// Sets the property with the index `property` to the value that `reader` reads next, whose signature has
    /// been checked.
    func write(_ property: Int, from reader: inout MessageReader, _ call: MethodCall) async throws
}
