// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import Platform
import TestSupport
import Testing

/// Values that nest, each a number of containers deep.
enum Nest: CaseIterable {
    case variants, properties, arrays, emptyArrays, structures, structuresInVariants, bytes

    func value(_ depth: Int) throws -> Value {
        switch self {
        case .variants: return (0..<depth).reduce(.byte(1)) { inner, _ in .variant(inner) }
        case .properties: return (0..<depth / 3).reduce(.byte(1)) { inner, _ in .properties(["a": inner]) }
        case .arrays, .emptyArrays:
            var value = self == .arrays ? Value.strings(["x"]) : Value.strings([])
            for _ in 0..<max(0, depth - 1) { value = try .array(of: value.typeSignature, [value]) }
            return value
        case .structures:
            return try (0..<depth).reduce(.byte(1)) { inner, _ in try .structure([inner]) }
        case .structuresInVariants:
            return try (0..<depth / 2).reduce(.byte(1)) { inner, _ in try .structure([.variant(inner)]) }
        case .bytes: return (0..<max(0, depth - 1)).reduce(.bytes([1])) { inner, _ in .variant(inner) }
        }
    }
}

@Suite("Nesting", .timeLimit(.minutes(2)))
struct DepthTests {
    @Test("however deep a value is, it is sent and received alike or refused", arguments: Nest.allCases)
    func deep(_ nest: Nest) throws {
        for depth in Array(0...70) + [100, 128, 150, 200] {
            guard let value = try? nest.value(depth) else {
                #expect(depth > 32, "\(nest) \(depth)")
                continue
            }
            for content in [value, .variant(value), .properties(["a": value])] {
                guard let message = try? Messages.call(of: [content]) else {
                    #expect(depth > 32, "\(nest) \(depth)")
                    continue
                }
                #expect(try Messages.arguments(of: Messages.sent(message)) == [content], "\(nest) \(depth)")
            }
        }
    }

    @Test("what the encoder takes, the bus takes: the sender is never thrown off", arguments: Nest.allCases)
    func bus(_ nest: Nest) async throws {
        try await onLoop {
            let bus = try await TestBus.start()
            let (sender, receiver) = (try bus.connect(), try bus.connect())
            let calls = CallLog()
            receiver.connection.policy = AllowAll()
            receiver.connection.objects.export("/echo", [calls])
            var (sent, refused) = (0, 0)
            for depth in 0...80 {
                guard let value = try? nest.value(depth) else { continue }
                for isWrapped in [false, true] {
                    let message = try Message.call(
                        to: receiver.uniqueName, "/echo", "org.example.CallLog", "Any")
                    var writer = MessageWriter(message)
                    do throws(DBusError) {
                        try writer.writeContent(of: isWrapped ? .properties(["a": value]) : value)
                        sent += 1
                    } catch {
                        refused += 1
                        continue
                    }
                    // The callee refuses the signature, which shows that the call has come through.
                    await #expect(throws: DBusError.self, "\(nest) \(depth)") {
                        do { _ = try await sender.connection.call(message) } catch let error as DBusError {
                            #expect(error.name != .disconnected && error.name != .noReply, "\(nest) \(depth)")
                            throw error
                        }
                    }
                    try #require(!sender.connection.isClosed, "\(nest) \(depth)")
                }
            }
            #expect(sent >= 32)
            #expect(refused > 0 || nest == .arrays || nest == .emptyArrays)
        }
    }

    @Test("sixty-four containers pass, and no more")
    func limit() throws {
        #expect(throws: Never.self) { try Messages.sent(Messages.call(of: [Nest.variants.value(64)])) }
        #expect(throws: DBusError.self) { try Messages.call(of: [Nest.variants.value(65)]) }
    }

    @Test("the bus throws off whoever sends sixty-five containers, not sixty-four")
    func exact() async throws {
        try await onLoop {
            let bus = try await TestBus.start()
            #expect(RawConnection.survives(MessageWriter.maximumDepth, on: bus.address))
            #expect(!RawConnection.survives(MessageWriter.maximumDepth + 1, on: bus.address))
        }
    }
}
