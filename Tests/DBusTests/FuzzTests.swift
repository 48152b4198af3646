// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import TestSupport
import Testing

@Suite("Hostile bytes", .timeLimit(.minutes(2)))
struct FuzzTests {
    /// Messages to start from, of every kind.
    static func samples(_ random: inout Seeded) throws -> [UInt8] {
        let message: Message
        switch random.below(4) {
        case 0:
            message = try Message.signal(from: "/a/b", "org.example.Interface", "Signal")
        case 1:
            message = try Message.reply(to: Messages.call())
        case 2:
            return try Messages.sent(withSerial(Message.error(.invalidArgs("why"), to: Messages.call())))
                .marshal()
        default:
            message = try Message.call(to: "org.example.Name", "/a", "org.example.Interface", "Call")
        }
        var writer = MessageWriter(message)
        do throws(DBusError) {
            for _ in 0..<random.below(4) {
                guard let value = try? random.value() else { continue }
                try writer.writeContent(of: value)
            }
        } catch {
            return try samples(&random)
        }
        return try withSerial(message).marshal()
    }

    private static func withSerial(_ message: Message) -> Message {
        message.setSerial(5)
        return message
    }

    /// Changes some of `bytes`, mostly to values that mean something.
    static func mutate(_ bytes: inout [UInt8], _ random: inout Seeded) {
        let codes = Array("ybnqiuxtdsogavh(){}rem".utf8) + [0, 1, 2, 4, 7, 8, 9, 16, 32, 64, 127, 128, 255]
        for _ in 0...random.below(4) {
            let index = random.below(bytes.count)
            switch random.below(8) {
            case 0: bytes[index] ^= 1 << UInt8(random.below(8))
            case 1: bytes[index] = UInt8(truncatingIfNeeded: random.next())
            case 2: bytes[index] = bytes[random.below(bytes.count)]
            case 3:
                let end = min(bytes.count, index + random.below(9))
                for place in index..<end { bytes[place] = 0 }
            case 4:
                for (place, byte) in "ah".utf8.enumerated() where index + place < bytes.count {
                    bytes[index + place] = byte
                }
            default: bytes[index] = codes[random.below(codes.count)]
            }
        }
    }

    /// Takes a message, if there is one, wholly apart.
    private func consume(_ bytes: [UInt8]) throws -> Bool {
        let message: Message
        do { message = try Message.demarshal(bytes) } catch { return false }
        _ = (
            message.kind, message.path, message.interface, message.member, message.sender, message.destination
        )
        _ = (message.error, message.serial, message.replySerial, message.wantsReply)
        #expect(message.kind != nil && message.serial != 0)
        let values = try? Messages.arguments(of: message)
        if let values {
            #expect(values.map(\.typeSignature).joined() == message.signature)
            #expect(!message.signature.contains("h"))
            // What can be read can be sent on.
            let again = try Messages.sent(Messages.call(of: values))
            #expect(again.signature == message.signature)
        }
        var reader = MessageReader(message)
        _ = try? reader.read([String: Value].self)
        var other = MessageReader(message)
        _ = try? other.read([Structure<String, [UInt8]>].self)
        return true
    }

    @Test("mutated messages are refused or read, never anything else", arguments: 0..<8)
    func mutations(_ seed: UInt64) throws {
        var random = Seeded(seed)
        var (taken, total) = (0, 0)
        let deadline = ContinuousClock.now + .milliseconds(500)
        while ContinuousClock.now < deadline {
            let sample = try Self.samples(&random)
            for _ in 0..<20 {
                var bytes = sample
                Self.mutate(&bytes, &random)
                total += 1
                if try consume(bytes) { taken += 1 }
            }
        }
        #expect(total > 100 && taken > 0 && taken < total)
    }

    @Test("noise after a plausible start is refused or read", arguments: 0..<4)
    func noise(_ seed: UInt64) throws {
        var random = Seeded(seed + 1000)
        let deadline = ContinuousClock.now + .milliseconds(250)
        while ContinuousClock.now < deadline {
            var bytes = (0..<random.below(120)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if bytes.count >= 16 {
                bytes[0] = [0x6c, 0x42][random.below(2)]
                (bytes[1], bytes[3]) = (UInt8(1 + random.below(4)), 1)
                for index in [5, 6, 7, 13, 14, 15] { bytes[index] = 0 }
            }
            _ = try consume(bytes)
        }
    }

    @Test("a small message cannot be read into more than the budget")
    func budget() throws {
        // An array of empty arrays: four bytes each on the wire, a value each in memory.
        let many = try Value.array(of: "as", Array(repeating: .strings([]), count: 2_000_000))
        let message = try Messages.sent(Messages.call(of: [many]))
        let error = try #require(throws: DBusError.self) { try Messages.arguments(of: message) }
        #expect(error.name == .limitsExceeded)
    }
}
