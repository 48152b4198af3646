// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// What travels between the two devices of a stream.
private enum Wire: Hashable {
    case data, end, goodbye
}

/// A device of a stream: an application, two threads, and the state machine, which hears of them later.
private struct Side {
    var life = StreamLife()
    // The application.
    var written = 0
    var hasEndedWriting = false
    var hasClosed = false
    var read = 0
    /// Whether it has read an end of file, or an error instead; nil for neither.
    var sawEnd: Bool?
    // The threads.
    var taken = 0
    var sentEnd = false
    var gotEnd = false
    var sender = true
    var receiver = true
    var isStopped = false
    // What the state machine has yet to hear, and what has come of it.
    var events: [StreamLife.Event] = []
    var closings = 0
    var finishes = 0
}

/// Two devices with a connection between them, where anything may happen at any time.
private struct World {
    var sides = [Side(), Side()]
    /// What is on its way to each side; nil when the connection is cut.
    var wires: [[Wire]?] = [[], []]
    /// Whether nothing goes wrong, and nobody closes an end before everything is over.
    var isPeaceful = false

    mutating func step(_ generator: inout SeededGenerator) {
        let here = Int.random(in: 0...1, using: &generator)
        switch Int.random(in: 0..<40, using: &generator) {
        case 0..<8: write(here)
        case 8: sides[here].hasEndedWriting = true
        case 9 where !isPeaceful && generator.chance(40): close(here)
        case 10 where !isPeaceful && generator.chance(10): sides[here].events.append(.cut("link"))
        case 11 where !isPeaceful && generator.chance(5): wires = [nil, nil]
        case 12..<20: send(here)
        case 20..<30: receive(here)
        default: hear(here)
        }
    }

    mutating func write(_ here: Int) {
        if !sides[here].hasEndedWriting, !sides[here].isStopped { sides[here].written += 1 }
    }

    mutating func close(_ here: Int) {
        sides[here].hasEndedWriting = true
        sides[here].hasClosed = true
    }

    /// The thread that sends.
    mutating func send(_ here: Int) {
        guard sides[here].sender else { return }
        if sides[here].isStopped {
            sides[here].sender = false
            return sides[here].events.append(.threadEnded)
        }
        guard wires[1 - here] != nil else {
            sides[here].sender = false
            sides[here].events += [.sendingFailed("broken"), .threadEnded]
            return
        }
        if sides[here].taken < sides[here].written {
            sides[here].taken += 1
            wires[1 - here]?.append(.data)
        } else if sides[here].hasEndedWriting, !sides[here].sentEnd {
            sides[here].sentEnd = true
            wires[1 - here]?.append(.end)
            sides[here].events.append(.outgoingEnded)
        } else if sides[here].sentEnd, sides[here].hasClosed || sides[here].gotEnd {
            sides[here].sender = false
            sides[here].events += [.applicationClosed, .threadEnded]
        }
    }

    /// The thread that receives.
    mutating func receive(_ here: Int) {
        guard sides[here].receiver else { return }
        if sides[here].isStopped { return endReceiving(here, nil) }
        guard let wire = wires[here] else { return endReceiving(here, .failed("broken")) }
        guard let first = wire.first else { return }
        wires[here]?.removeFirst()
        switch first {
        case .data: if !sides[here].hasClosed { sides[here].read += 1 }
        case .end:
            sides[here].gotEnd = true
            sides[here].events.append(.incomingEnded)
        case .goodbye: endReceiving(here, sides[here].gotEnd ? .connectionEnded : .failed("cut off"))
        }
    }

    mutating func endReceiving(_ here: Int, _ event: StreamLife.Event?) {
        sides[here].receiver = false
        sides[here].events += [event, .threadEnded].compactMap(\.self)
    }

    /// The state machine hears of one event.
    mutating func hear(_ here: Int) {
        guard !sides[here].events.isEmpty else { return }
        let event = sides[here].events.removeFirst()
        for action in sides[here].life.handle(event) {
            switch action {
            case .finish:
                sides[here].finishes += 1
                wires[1 - here]?.append(.goodbye)
            case .stop:
                sides[here].isStopped = true
                // What was not read is lost, as with TCP; what was sent arrives.
                wires[here] = wires[here].map { _ in [] }
                wires[1 - here]?.append(.goodbye)
            case .close(let isClean, _):
                sides[here].closings += 1
                if !sides[here].hasClosed { sides[here].sawEnd = isClean }
            }
        }
    }
}

@Suite("Streams, whatever happens")
struct StreamLifePropertyTests {
    @Test(
        "what an application reads to the end is all that the other has written; a stream that is closed ends on both sides",
        arguments: 1...200)
    func neverShort(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var world = World()
        for _ in 0..<Int.random(in: 10...400, using: &generator) { world.step(&generator) }
        // From now on nothing new happens, except that both applications close their ends sooner or later.
        world.close(0)
        world.close(1)
        for _ in 0..<20_000 where world.sides.contains(where: { $0.closings == 0 }) {
            let here = Int.random(in: 0...1, using: &generator)
            world.send(here)
            world.receive(here)
            world.hear(here)
        }
        for (here, side) in world.sides.enumerated() {
            let other = world.sides[1 - here]
            #expect(side.closings == 1, "it ended \(side.closings) times")
            #expect(side.finishes <= 1)
            #expect(side.life.isFinishing)
            if side.sawEnd == true {
                #expect(side.gotEnd && other.hasEndedWriting && side.read == other.written)
            }
        }
    }

    @Test("where nothing goes wrong everything arrives, and both read the end", arguments: 1...200)
    func complete(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var world = World()
        world.isPeaceful = true
        for _ in 0..<Int.random(in: 10...400, using: &generator) { world.step(&generator) }
        for here in 0...1 { world.sides[here].hasEndedWriting = true }
        for _ in 0..<20_000 where world.sides.contains(where: { $0.closings == 0 }) { world.step(&generator) }
        for (here, side) in world.sides.enumerated() {
            #expect(side.closings == 1 && side.sawEnd == true)
            #expect(side.read == world.sides[1 - here].written)
        }
    }
}
