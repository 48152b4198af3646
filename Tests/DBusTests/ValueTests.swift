// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import TestSupport
import Testing

@Suite("Values", .timeLimit(.minutes(2)))
struct ValueTests {
    private static let one: [Value] = [
        .byte(0), .byte(255), .boolean(false), .boolean(true), .int16(.min), .int16(.max), .uint16(.max),
        .int32(.min), .int32(.max), .uint32(.max), .int64(.min), .int64(.max), .uint64(.max), .double(0),
        .double(-.greatestFiniteMagnitude), .double(.infinity), .double(.leastNonzeroMagnitude), .string(""),
        .string("Grüße, 世界 😀\n"), .objectPath("/"), .objectPath("/org/example"), .signature(""),
        .signature("a{sv}(ii)"), .bytes([]), .bytes([0, 1, 255]), .strings([]), .strings(["", "a", "é"]),
        .properties([:]),
        .properties(["b": .int32(1), "a": .strings(["x"]), "": .properties(["n": .byte(1)])]),
        .variant(.byte(7)), .variant(.variant(.variant(.string("deep")))),
    ]

    @Test("every type comes out of a message as it went in", arguments: one)
    func roundTrip(_ value: Value) throws {
        let message = try Messages.sent(Messages.call(of: [value, .variant(value), value]))
        #expect(message.signature == value.typeSignature + "v" + value.typeSignature)
        #expect(try Messages.arguments(of: message) == [value, .variant(value), value])
    }

    @Test("nested containers come out as they went in")
    func nested() throws {
        let values: [Value] = [
            try .array(of: "as", [.strings(["a"]), .strings([])]),
            try .array(of: "ay", [.bytes([1]), .bytes([])]),
            try .array(of: "(sv)", []),
            try .array(of: "a{sv}", [.properties(["a": .byte(1)]), .properties([:])]),
            try .array(of: "v", [.variant(.byte(1)), .variant(.string("x"))]),
            try .structure([.byte(1), .int64(2), try .structure([.string("x")]), .strings([])]),
            try .dictionary(
                key: "u", value: "(ox)", [(.uint32(1), try .structure([.objectPath("/"), .int64(5)]))]),
            try .dictionary(key: "g", value: "a{yas}", []),
            try .array(of: "x", [.int64(1), .int64(2)]), try .array(of: "b", [.boolean(true)]),
        ]
        #expect(try Messages.arguments(of: Messages.sent(Messages.call(of: values))) == values)
    }

    @Test("not a number comes out as not a number")
    func notANumber() throws {
        let value = try Messages.arguments(of: Messages.sent(Messages.call(of: [.double(.nan)])))
        guard case .double(let number)? = value.first else { throw DBusError.invalidArgs("no double") }
        #expect(number.isNaN)
    }

    @Test("an array of bytes is `bytes`, however it was made")
    func bytes() throws {
        #expect(try Value.array(of: "y", [.byte(1), .byte(2)]) == .bytes([1, 2]))
        #expect(try Value.array(of: "y", []) == .bytes([]))
    }

    @Test(
        "an array's element type must be one complete type without descriptors",
        arguments: [
            "", "ss", "z", "{sv}", "h", "ah", "(sh)", "a{sh}", "()", String(repeating: "a", count: 32) + "s",
        ])
    func badElementTypes(_ signature: String) {
        #expect(throws: DBusError.self) { try Value.array(of: signature, []) }
    }

    @Test("elements and entries of another type are refused")
    func mixed() {
        #expect(throws: DBusError.self) { try Value.array(of: "s", [.string("a"), .byte(1)]) }
        #expect(throws: DBusError.self) { try Value.array(of: "a{sv}", [.strings([])]) }
        #expect(throws: DBusError.self) {
            try Value.dictionary(key: "s", value: "v", [(.string("a"), .byte(1))])
        }
        #expect(throws: DBusError.self) {
            try Value.dictionary(key: "s", value: "s", [(.byte(1), .string("a"))])
        }
    }

    @Test(
        "a dictionary's key is basic, its types are complete",
        arguments: [
            ("v", "s"), ("as", "s"), ("ss", "s"), ("s", "vv"), ("s", ""), ("", "s"), ("h", "s"), ("s", "ah"),
        ])
    func badDictionaries(_ key: String, _ value: String) {
        #expect(throws: DBusError.self) { try Value.dictionary(key: key, value: value, []) }
    }

    @Test("a structure has fields")
    func emptyStructure() {
        #expect(throws: DBusError.self) { try Value.structure([]) }
    }

    @Test("values give their contents by type")
    func contents() throws {
        #expect(Value.string("a").string == "a" && Value.byte(1).string == nil)
        #expect(Value.strings(["a"]).strings == ["a"] && Value.bytes([]).strings == nil)
        let twice = try Value.dictionary(
            key: "s", value: "v", [(.string("a"), .variant(.byte(1))), (.string("a"), .variant(.byte(2)))])
        #expect(twice.properties == ["a": .byte(2)])
        #expect(Value.strings([]).properties == nil)
        #expect(
            Value.properties(["b": .byte(1), "a": .byte(2)]) == .properties(["a": .byte(2), "b": .byte(1)]))
    }

    @Test("random values come out as they went in, and take as many bytes as counted", arguments: 0..<20)
    func random(_ seed: UInt64) throws {
        var random = Seeded(seed)
        for _ in 0..<200 {
            let values = try (0...random.below(4)).map { _ in try random.value() }
            let bytes: [UInt8]
            do {
                bytes = try Messages.call(of: values).marshal()
            } catch {
                // Generated signatures may be too long together.
                #expect(values.map(\.typeSignature).joined().utf8.count > 255)
                continue
            }
            #expect(try Messages.arguments(of: .demarshal(bytes)) == values)
            var size = MarshalledSize()
            for value in values { size.add(value) }
            #expect(size.bytes == Messages.bodyLength(bytes))
        }
    }

    @Test("sorted properties have each key once, the last value of it, in the order of the keys")
    func sortedProperties() throws {
        func dictionary(_ keys: [String]) throws -> Value {
            try .dictionary(
                key: "s", value: "v",
                keys.enumerated().map { (.string($1), .variant(.int32(Int32($0)))) })
        }
        let cases: [([String], [String: Value])] = [
            ([], [:]), (["a"], ["a": .int32(0)]), (["a", "b"], ["a": .int32(0), "b": .int32(1)]),
            (["c", "a", "b"], ["c": .int32(0), "a": .int32(1), "b": .int32(2)]),
            (["a", "a"], ["a": .int32(1)]), (["b", "a", "b", "a"], ["b": .int32(2), "a": .int32(3)]),
            (["", "ü", "u\u{308}"], ["": .int32(0), "ü": .int32(2)]),
        ]
        for (keys, expected) in cases {
            let sorted = try #require(try dictionary(keys).sortedProperties)
            #expect(Value.dictionary(sorted) == .properties(expected), "\(keys)")
            #expect(MarshalledSize.ofBody(sorted) == MarshalledSize.ofBody(expected))
        }
        #expect(Value.strings([]).sortedProperties == nil)
        #expect(try Value.dictionary(key: "s", value: "s", []).sortedProperties == nil)
    }

    @Test("a size that is added up property by property is that of them all")
    func sizeByProperty() {
        let properties: KeyValuePairs<String, Value> = [
            "a": .byte(1), "list": .strings(["x", "y"]), "n": .int64(1), "p": .properties([:]),
        ]
        var size = MarshalledSize()
        size.add(.properties([:]))
        for (key, value) in properties { size.addProperty(key, value) }
        #expect(
            size.bytes == MarshalledSize.ofBody(Dictionary(uniqueKeysWithValues: properties.map { ($0, $1) }))
        )
    }

    @Test("the size of properties is that of a body with nothing else")
    func sizeOfProperties() throws {
        let properties: [String: Value] = [
            "a": .byte(1), "list": .strings(["x", "y"]), "n": .int64(1), "p": .properties([:]),
        ]
        let bytes = try Messages.call(of: [.properties(properties)]).marshal()
        #expect(MarshalledSize.ofBody(properties) == Messages.bodyLength(bytes))
        #expect(MarshalledSize.ofBody([:]) == 8)
    }
}

@Suite("Packed properties")
struct PackedPropertiesTests {
    @Test("they come out as they went in, types included")
    func roundTrip() throws {
        let properties: [String: Value] = [
            "": .byte(0), "text": .string("Grüße"),
            "deep": .variant(.variant(.properties(["x": .int16(-1)]))),
            "bytes": .bytes([0, 255]), "none": .strings([]), "number": .double(-0.0), "same": .uint64(.max),
        ]
        let packed = try PackedProperties(properties)
        #expect(!packed.isEmpty)
        #expect(try packed.unpacked() == properties)
    }

    @Test("a dictionary comes out in its order")
    func order() throws {
        let value = try Value.dictionary(
            key: "s", value: "v",
            [(.string("b"), .variant(.byte(1))), (.string("a"), .variant(.properties(["c": .byte(2)])))])
        guard case .dictionary(let dictionary) = value else { return #expect(Bool(false), "no dictionary") }
        #expect(try PackedProperties(dictionary).value() == value)
        #expect(try PackedProperties().value() == .properties([:]))
        guard case .dictionary(let other) = try Value.dictionary(key: "s", value: "s", []) else { return }
        #expect(throws: DBusError.self) { try PackedProperties(other) }
    }

    @Test(
        "in a message they are what they would be as values, wherever they stand in it, and in both byte orders"
    )
    func inMessages() throws {
        let properties: [String: Value] = ["one": .double(0.5)]
        for text in ["", "four", "longer"] {
            let message = try Message.signal(from: "/", "a.B", "C")
            var writer = MessageWriter(message)
            try writer.write(text)
            try writer.write(try PackedProperties(properties))
            try writer.write(PackedProperties())
            try writer.write([text: try PackedProperties(properties)])
            let same = try Message.signal(from: "/", "a.B", "C")
            writer = MessageWriter(same)
            try writer.write(text)
            try writer.write(properties)
            try writer.write([String: Value]())
            try writer.write([text: properties])
            message.setSerial(1)
            same.setSerial(1)
            let bytes = try message.marshal()
            #expect(try bytes == same.marshal())
            for bytes in [bytes, BigEndian.swapped(bytes)] {
                var reader = MessageReader(try Message.demarshal(bytes, limit: 1 << 20))
                #expect(try reader.read(String.self) == text)
                #expect(try reader.read() == PackedProperties(properties))
                #expect(try reader.read() == PackedProperties())
                #expect(try reader.read() == [text: try PackedProperties(properties)])
            }
            var reader = MessageReader(try Message.demarshal(bytes, limit: 1 << 20))
            #expect(throws: DBusError.self) { try reader.read(PackedProperties.self) }
        }
    }

    @Test("none of them take nothing")
    func empty() throws {
        #expect(try PackedProperties([:]) == PackedProperties())
        #expect(PackedProperties().isEmpty)
        #expect(try PackedProperties().unpacked() == [:])
    }

    @Test("what is nested too deeply for a message is refused")
    func tooDeep() {
        var value = Value.byte(1)
        for _ in 0..<70 { value = .variant(value) }
        #expect(throws: DBusError.self) { try PackedProperties(["deep": value]) }
    }
}

@Suite("Replacing structures in values")
struct StructureTests {
    private static func tagged(_ text: String) throws -> Value {
        try .structure([.string("url"), .variant(.string(text))])
    }

    private static func everywhere(_ value: Value) throws -> Value {
        .properties([
            "array": try .array(of: "(sv)", [value, value]),
            "variants": try .array(of: "v", [.variant(value)]),
            "dictionary": try .dictionary(key: "u", value: "(sv)", [(.uint32(1), value)]),
            "structure": try .structure([value, .byte(1)]), "variant": .variant(.variant(value)),
            "bytes": .bytes([1]), "strings": .strings(["a"]), "none": try .array(of: "(sv)", []),
        ])
    }

    @Test("a structure is replaced wherever it stands, and all else stays")
    func everywhere() throws {
        let new = try Self.tagged("b")
        let replaced = try Self.everywhere(Self.tagged("a")).replacingStructures { structure in
            structure.fields.first == .string("url") ? [.string("url"), .variant(.string("b"))] : nil
        }
        #expect(try replaced == Self.everywhere(new))
    }

    @Test("nothing is replaced by what has other types, and a value in which nothing is replaced is none")
    func types() throws {
        let value = try Self.everywhere(Self.tagged("a"))
        #expect(value.replacingStructures { _ in [.string("url"), .string("b")] } == nil)
        #expect(value.replacingStructures { _ in [] } == nil)
        #expect(value.replacingStructures { _ in nil } == nil)
        #expect(Value.string("a").replacingStructures { _ in [] } == nil)
    }

    @Test("random values that are replaced by themselves stay the same", arguments: 1...20)
    func same(_ seed: UInt64) throws {
        var seeded = Seeded(seed)
        for _ in 0..<50 {
            let value = try seeded.value()
            let replaced = value.replacingStructures { $0.fields }
            #expect(replaced == nil || Result { try PackedProperties(["a": value]) }.isSame(as: replaced))
        }
    }
}

extension Result<PackedProperties, any Error> {
    /// Compares bytes, since NaN does not equal itself.
    fileprivate func isSame(as other: Value?) -> Bool {
        guard let other, let packed = try? get() else { return other != nil }
        return (try? PackedProperties(["a": other])) == packed
    }
}
