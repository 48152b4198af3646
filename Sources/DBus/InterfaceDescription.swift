// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// What the generator knows about an interface: enough to dispatch calls, to check who may do what, and to
/// answer `Introspect`. There is one for each interface, so that nothing of it is copied.
package final class InterfaceDescription: Sendable {
    /// A method.
    package struct Method: Sendable {
        /// Its name.
        package let name: String
        /// The signature of its arguments.
        package let input: String
        /// Who may call it.
        package let access: AccessClass
        /// Whether whoever serves it may wait for something before it answers.
        package let waits: Bool

        /// A method.
        package init(name: String, input: String, access: AccessClass, waits: Bool = false) {
            self.name = name
            self.input = input
            self.access = access
            self.waits = waits
        }
    }

    /// A property.
    package struct Property: Sendable {
        /// Its name.
        package let name: String
        /// One complete type.
        package let signature: String
        /// Whether it can be read.
        package let isReadable: Bool
        /// Whether it can be written.
        package let isWritable: Bool
        /// Who may read it.
        package let access: AccessClass
        /// Who may write it.
        package let writeAccess: AccessClass
        /// Whether whoever serves it may wait for something before it is written.
        package let waits: Bool

        /// A property.
        package init(
            name: String, signature: String, isReadable: Bool, isWritable: Bool, access: AccessClass,
            writeAccess: AccessClass, waits: Bool = false
        ) {
            self.name = name
            self.signature = signature
            self.isReadable = isReadable
            self.isWritable = isWritable
            self.access = access
            self.writeAccess = writeAccess
            self.waits = waits
        }
    }

    /// Its name.
    package let name: InterfaceName
    /// Its methods; their positions are the indices that a binding is given.
    package let methods: [Method]
    /// Its properties; their positions are the indices that a binding is given.
    package let properties: [Property]
    /// The `<interface>` element, documentation included.
    package let xml: String
    private let methodNames: [String]
    private let propertyNames: [String]

    /// An interface.
    package init(name: InterfaceName, methods: [Method], properties: [Property], xml: String) {
        self.name = name
        self.methods = methods
        self.properties = properties
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
package struct AccessClass: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The class itself, as the XML writes it.
    package let name: String
    /// A class in the source code.
    package init(stringLiteral name: String) { self.name = name }
    /// The class itself.
    package var description: String { name }
}

/// An interface as an object serves it. Generated from the interface's XML.
@MainLoop
package protocol InterfaceBinding {
    /// What it serves.
    static var description: InterfaceDescription { get }
    /// Runs the method with the index `method` in the description, one that does not wait, and returns the reply. The
    /// signature of the call's arguments has been checked.
    func handle(_ method: Int, _ call: MethodCall) throws -> Message
    /// The same for a method that waits.
    func handleWaiting(_ method: Int, _ call: MethodCall) async throws -> Message
    /// Appends the value of the property with the index `property`, directly and not in a variant.
    func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError)
    /// Sets the property with the index `property`, whose writing does not wait, to the value that `reader` reads next, whose
    /// signature has been checked.
    func write(_ property: Int, from reader: inout MessageReader, _ call: MethodCall) throws
    /// The same for a property whose writing waits.
    func writeWaiting(_ property: Int, from reader: consuming MessageReader, _ call: MethodCall) async throws
}

extension InterfaceBinding {
    package func handleWaiting(_ method: Int, _ call: MethodCall) async throws -> Message {
        throw DBusError.unknownMethod("\(Self.description.name) has no method number \(method) that waits.")
    }

    package func writeWaiting(
        _ property: Int, from reader: consuming MessageReader, _ call: MethodCall
    ) async throws {
        throw DBusError(
            .unknownProperty, "\(Self.description.name) has no property number \(property) that waits.")
    }
}
