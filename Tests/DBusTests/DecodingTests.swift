// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import Testing

@Suite("Reading and writing typed values")
struct DecodingTests {
    private func roundTrip<Type: DBusType & Equatable>(_ value: Type) throws {
        let message = try Messages.sent(
            Messages.call { (writer) throws(DBusError) in try writer.write(value) })
        #expect(message.signature == Type.typeSignature)
        var reader = MessageReader(message)
        #expect(try reader.read(Type.self) == value)
    }

    @Test("Swift types go straight to and from messages")
    func types() throws {
        try roundTrip(UInt8.max)
        try roundTrip(true)
        try roundTrip(Int16.min)
        try roundTrip(UInt16.max)
        try roundTrip(Int32.min)
        try roundTrip(UInt32.max)
        try roundTrip(Int64.min)
        try roundTrip(UInt64.max)
        try roundTrip(-0.5)
        try roundTrip("text é")
        try roundTrip(ObjectPath("/a/b"))
        try roundTrip(Signature("a{sv}"))
        try roundTrip(Value.strings(["a"]))
        try roundTrip([UInt8]([1, 2]))
        try roundTrip([UInt8]())
        try roundTrip(["a", ""])
        try roundTrip([[1, 2], [], [3]] as [[Int32]])
        try roundTrip([1, 2] as [Int64])
        try roundTrip(["a": 1, "b": 2] as [String: UInt32])
        try roundTrip([ObjectPath("/a"): ["i": ["p": Value.byte(1)]]])
        try roundTrip([1: [true]] as [UInt16: [Bool]])
        try roundTrip([String: Value]())
    }

    @Test("structures go straight to and from messages")
    func structures() throws {
        let pairs = [Structure("a", UInt32(1)), Structure("b", UInt32(2))]
        let message = try Messages.sent(
            Messages.call { (writer) throws(DBusError) in
                try writer.write(pairs)
                try writer.write(Structure(Structure(UInt8(1)), [String: Value]()))
            })
        #expect(message.signature == "a(su)((y)a{sv})")
        var reader = MessageReader(message)
        let read: [Structure<String, UInt32>] = try reader.read()
        #expect(read.map(\.fields.0) == ["a", "b"] && read.map(\.fields.1) == [1, 2])
        let nested: Structure<Structure<UInt8>, [String: Value]> = try reader.read()
        #expect(nested.fields.0.fields == 1 && nested.fields.1.isEmpty)
    }

    @Test("a structure without fields is refused")
    func emptyStructure() throws {
        #expect(throws: DBusError.self) {
            try Messages.call { (writer) throws(DBusError) in try writer.write(Structure()) }
        }
        #expect(throws: DBusError.self) {
            try Messages.call { (writer) throws(DBusError) in try writer.write([Structure()]) }
        }
    }

    /// The error that reading a message with `value` in it as `Type` gives.
    private func refusal<Type: DBusType>(_ value: Value?, as: Type.Type) throws -> DBusError {
        let message = try Messages.sent(Messages.call(of: value.map { [$0] } ?? []))
        return try #require(throws: DBusError.self) {
            var reader = MessageReader(message)
            _ = try reader.read(Type.self)
        }
    }

    @Test("a wrong type is refused, naming what was expected and what was found")
    func wrongTypes() throws {
        func check<Type: DBusType>(_ value: Value?, _ type: Type.Type, _ expected: String, _ found: String)
            throws
        {
            let error = try refusal(value, as: type)
            #expect(error.name == .invalidArgs)
            #expect(error.message.contains(expected) && error.message.contains(found), "\(error.message)")
        }
        try check(.string("a"), UInt32.self, "type u", "found s")
        try check(.uint32(1), String.self, "type s", "found u")
        try check(.string("/a"), ObjectPath.self, "type o", "found s")
        try check(.int32(1), UInt32.self, "type u", "found i")
        try check(nil, String.self, "type s", "found nothing")
        try check(.strings([]), [ObjectPath].self, "type ao", "found as")
        try check(.bytes([1]), [String].self, "type as", "found ay")
        try check(.strings(["a"]), [UInt8].self, "type ay", "found as")
        try check(.byte(1), [UInt8].self, "type ay", "found y")
        try check(.properties([:]), [String: String].self, "a{ss}", "a{sv}")
        try check(.properties(["a": .byte(1)]), [[String: Value]].self, "aa{sv}", "a{sv}")
        try check(.structure([.byte(1)]), Structure<String>.self, "type s", "found y")
        try check(.structure([.byte(1)]), Structure<UInt8, String>.self, "type s", "found nothing")
        try check(.byte(1), Structure<UInt8>.self, "(y)", "found y")
        try check(.byte(1), Value.self, "type v", "found y")
    }

    @Test("a structure with more fields than asked for is refused")
    func longerStructure() throws {
        let value = try Value.structure([.byte(1), .string("a")])
        _ = try refusal(value, as: Structure<UInt8>.self)
    }

    @Test("the error names the entry that is wrong")
    func namedEntry() throws {
        let message = try Message.call(to: nil, "/a", "a.b", "C")
        var writer = MessageWriter(message)
        try writer.write(["Bad": DescriptorInVariant()])
        var typed = MessageReader(message)
        let error = try #require(throws: DBusError.self) { _ = try typed.read([String: Value].self) }
        #expect(
            error.name == .invalidArgs && error.message.contains("Bad") && error.message.contains("type h"))
        var untyped = MessageReader(message)
        let other = try #require(throws: DBusError.self) { _ = try untyped.readAnyValue() }
        #expect(other.message.contains("Bad") && other.message.contains("type h"))
    }

    /// A variant that holds standard input.
    private struct DescriptorInVariant: DBusType {
        static let typeSignature = "v"
        static func read(from reader: inout MessageReader) throws(DBusError) -> Self { Self() }
        func write(to writer: inout MessageWriter) throws(DBusError) {
            try writer.variant("h") { (writer) throws(DBusError) in
                try writer.write(FileDescriptor(owning: dup(0)))
            }
        }
    }

    @Test("of a key that comes twice the last counts")
    func twice() throws {
        let value = try Value.dictionary(
            key: "s", value: "v", [(.string("a"), .variant(.byte(1))), (.string("a"), .variant(.byte(2)))])
        var reader = MessageReader(try Messages.sent(Messages.call(of: [value])))
        #expect(try reader.read([String: Value].self) == ["a": .byte(2)])
    }

    @Test("a string that holds a NUL is refused, not cut", arguments: ["\0", "a\0", "a\0b"])
    func nul(_ text: String) {
        let values: [Value] = [
            .string(text), .strings(["a", text]), .properties([text: .byte(1)]), .variant(.string(text)),
        ]
        for value in values {
            let error = #expect(throws: DBusError.self) { try Messages.call(of: [value]) }
            #expect(error?.name == .invalidArgs)
        }
    }

    @Test("variants are read as the type that they should hold")
    func variants() throws {
        let message = try Messages.sent(Messages.call(of: [.variant(.uint32(5)), .variant(.string("x"))]))
        var reader = MessageReader(message)
        let number = try reader.variant("u") { (reader) throws(DBusError) in try reader.read(UInt32.self) }
        #expect(number == 5)
        let error = try #require(throws: DBusError.self) {
            _ = try reader.variant("u") { (reader) throws(DBusError) in try reader.read(UInt32.self) }
        }
        #expect(error.message == "Expected a value of type u, found s.")
    }

    @Test("arrays and variants are written with checked types")
    func writingContainers() throws {
        let message = try Messages.call { (writer) throws(DBusError) in
            try writer.array(of: "s") { (writer) throws(DBusError) in try writer.write("a") }
            try writer.variant("as") { (writer) throws(DBusError) in try writer.write(["b"]) }
        }
        #expect(try Messages.arguments(of: message) == [.strings(["a"]), .variant(.strings(["b"]))])
        for signature in ["", "ss"] as [Signature] {
            #expect(throws: DBusError.self) {
                try Messages.call { (writer) throws(DBusError) in
                    try writer.array(of: signature) { (_) throws(DBusError) in }
                }
            }
            #expect(throws: DBusError.self) {
                try Messages.call { (writer) throws(DBusError) in
                    try writer.variant(signature) { (_) throws(DBusError) in }
                }
            }
        }
    }

    @Test("a descriptor goes through a message, and in no `Value`")
    func descriptors() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let message = try Message.call(to: nil, "/a", "a.b", "C")
        var writer = MessageWriter(message)
        try writer.write(FileDescriptor(owning: dup(ends[1])))
        try writer.variant("h") { (writer) throws(DBusError) in
            try writer.write(FileDescriptor(owning: dup(ends[1])))
        }
        var reader = MessageReader(message)
        #expect(throws: DBusError.self) { try reader.readAnyValue() }
        let descriptor = try reader.readFileDescriptor()
        #expect(write(descriptor.number, "x", 1) == 1)
        #expect(fcntl(descriptor.number, F_GETFD) == FD_CLOEXEC)
        #expect(throws: DBusError.self) { try reader.read(Value.self) }
        #expect(throws: DBusError.self) { _ = try reader.read(String.self) }
    }

    @Test("any error becomes one of D-Bus")
    func errors() {
        struct Odd: Error {}
        struct Named: DBusErrorConvertible {
            var dbusError: DBusError { DBusError("org.example.Named", "named") }
        }
        #expect(DBusError.converting(Odd()).name == .failed)
        #expect(DBusError.converting(CancellationError()).name == .failed)
        #expect(DBusError.converting(Named()) == DBusError("org.example.Named", "named"))
        #expect(DBusError.converting(DBusError.accessDenied("no")).name == .accessDenied)
        #expect(DBusError.invalidArgs("bad").at("“Title”").message == "“Title”: bad")
    }
}
