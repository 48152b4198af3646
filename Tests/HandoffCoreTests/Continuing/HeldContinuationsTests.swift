// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Continuations that applications hold")
struct HeldContinuationsTests {
    private func id(_ number: Int) throws -> ContinuationID {
        try Example.continuation(UInt8(number))
    }

    /// Eight delivered continuations of `:1.1` with streams.
    private func full() throws -> HeldContinuations {
        var held = HeldContinuations()
        for number in 1...8 {
            _ = try held.began(try id(number), connection: ":1.1", supportsStreams: true)
            _ = held.delivered(try id(number))
        }
        return held
    }

    @Test("a continuation without streams releases itself once ContinueActivity has replied")
    func withoutStreams() throws {
        var held = HeldContinuations()
        #expect(try held.began(try id(1), connection: ":1.1", supportsStreams: true) == [])
        held.fetched(try id(1), supportsStreams: false)
        #expect(held.delivered(try id(1)) == [.ended(try id(1))])
        #expect(held[try id(1)] == nil)
        #expect(held.delivered(try id(1)) == [])
    }

    @Test("a continuation with streams stays until it is released or its application leaves")
    func withStreams() throws {
        var held = HeldContinuations()
        for number in 1...3 {
            _ = try held.began(
                try id(number), connection: number == 3 ? ":1.2" : ":1.1", supportsStreams: true)
            #expect(held.delivered(try id(number)) == [])
        }
        #expect(held.released(try id(1)) == [.ended(try id(1))])
        #expect(held.released(try id(1)) == [])
        #expect(held.connectionVanished(":1.1") == [.ended(try id(2))])
        #expect(held[try id(3)] != nil)
    }

    @Test("a ninth continuation ends the oldest without open streams")
    func ninth() throws {
        var held = try full()
        try held.openStream(try id(1))
        #expect(try held.began(try id(9), connection: ":1.1", supportsStreams: true) == [.ended(try id(2))])
        held.streamClosed(try id(1))
        #expect(try held.began(try id(10), connection: ":1.1", supportsStreams: true) == [.ended(try id(1))])
        #expect(try held.began(try id(11), connection: ":1.2", supportsStreams: true) == [])
    }

    @Test("a ninth continuation is refused if all others are in use")
    func allInUse() throws {
        var held = try full()
        for number in 1...8 { try held.openStream(try id(number)) }
        #expect(
            code { _ = try held.began(try id(9), connection: ":1.1", supportsStreams: true) }
                == .limitsExceeded)
        var undelivered = HeldContinuations()
        for number in 1...8 {
            _ = try undelivered.began(try id(number), connection: ":1.1", supportsStreams: true)
        }
        #expect(
            code { _ = try undelivered.began(try id(9), connection: ":1.1", supportsStreams: true) }
                == .limitsExceeded)
        #expect(
            code { _ = try undelivered.began(try id(1), connection: ":1.3", supportsStreams: true) }
                == .invalidArguments)
    }

    @Test("streams are refused without a continuation, without support, and above sixteen a connection")
    func streams() throws {
        var held = HeldContinuations()
        #expect(code { try held.openStream(try id(1)) } == .unknownObject)
        _ = try held.began(try id(1), connection: ":1.1", supportsStreams: false)
        #expect(code { try held.openStream(try id(1)) } == .streamsNotSupported)
        for number in 2...3 { _ = try held.began(try id(number), connection: ":1.1", supportsStreams: true) }
        for _ in 1...8 {
            try held.openStream(try id(2))
            try held.openStream(try id(3))
        }
        #expect(code { try held.openStream(try id(2)) } == .limitsExceeded)
        held.streamClosed(try id(3))
        try held.openStream(try id(2))
    }

    @Test(
        "whatever happens, nobody holds more than eight, and nothing is left of those who leave",
        arguments: 1...30)
    func property(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var held = HeldContinuations()
        var alive: [ContinuationID: String] = [:]
        for _ in 0..<400 {
            let number = Int.random(in: 0...24, using: &generator)
            let id = try id(number)
            let connection = try generator.pick([":1.1", ":1.2"])
            var actions: [HeldContinuations.Action] = []
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                if let began = try? held.began(
                    id, connection: connection, supportsStreams: generator.chance(80))
                {
                    alive[id] = connection
                    actions = began
                }
            case 4..<6: actions = held.delivered(id)
            case 6: actions = held.released(id)
            case 7: try? held.openStream(id)
            case 8: held.streamClosed(id)
            default: actions = generator.chance(10) ? held.connectionVanished(connection) : []
            }
            for case .ended(let ended) in actions { #expect(alive.removeValue(forKey: ended) != nil) }
            for connection in [":1.1", ":1.2"] { #expect(alive.values.count { $0 == connection } <= 8) }
            for number in 0...24 {
                let id = try self.id(number)
                #expect(held[id]?.connection == alive[id])
                #expect(held[id].map { 0...16 ~= $0.openStreams } ?? true)
            }
        }
        let ended = (held.connectionVanished(":1.1") + held.connectionVanished(":1.2")).count
        #expect(ended == alive.count)
    }

    @Test("what goes to another connection of the application counts there, with room made for it")
    func handedOver() throws {
        var held = try full()
        _ = try held.began(try id(9), connection: ":1.2", supportsStreams: false)
        #expect(try held.handedOver(try id(9), to: ":1.1") == [.ended(try id(1))])
        #expect(held[try id(9)]?.connection == ":1.1")
        #expect(held.connectionVanished(":1.2") == [])
        #expect(code { _ = try held.handedOver(try id(99), to: ":1.1") } == .unknownObject)
        for number in 2...8 { try held.openStream(try id(number)) }
        _ = try held.began(try id(10), connection: ":1.2", supportsStreams: false)
        #expect(code { _ = try held.handedOver(try id(10), to: ":1.1") } == .limitsExceeded)
        #expect(held[try id(10)]?.connection == ":1.2")
    }

    @Test(
        "that a continuation had no streams is known when it is over, to its connection, of as many as that may hold"
    )
    func past() throws {
        var held = HeldContinuations()
        for number in 1...20 {
            _ = try held.began(try id(number), connection: ":1.1", supportsStreams: false)
            #expect(!held.endedWithoutStreams(try id(number), of: ":1.1"))
            _ = held.delivered(try id(number))
            #expect(held.endedWithoutStreams(try id(number), of: ":1.1"))
        }
        for number in 1...20 {
            #expect(held.endedWithoutStreams(try id(number), of: ":1.1") == (number > 12))
        }
        #expect(!held.endedWithoutStreams(try id(20), of: ":1.2"))
        _ = held.connectionVanished(":1.1")
        #expect(!held.endedWithoutStreams(try id(20), of: ":1.1"))
    }
}
