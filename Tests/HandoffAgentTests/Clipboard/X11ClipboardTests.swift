// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffAgent

@Suite("How a selection of X11 is read")
struct X11ReadingTests {
    private static let incremental: UInt32 = 99
    private static let text: UInt32 = 31

    private var reading = X11Reading(incremental: incremental, format: 8, maximum: 20)

    private func part(_ count: Int, rest: Int = 0, type: UInt32 = text, format: Int = 8) -> X11Property {
        X11Property(type: type, format: format, bytes: [UInt8](repeating: 7, count: count), rest: rest)
    }

    private func kept(_ count: Int) -> X11Reading.Action { .keep([UInt8](repeating: 7, count: count)) }

    /// The owner has begun to give pieces.
    private mutating func beginPieces() {
        reading = X11Reading(incremental: Self.incremental, format: 8, maximum: 20)
        _ = reading.answered(isGiven: true)
        #expect(reading.came(part(0, type: Self.incremental, format: 32)) == [.delete])
    }

    @Test("a property is read in parts, and then deleted")
    mutating func parts() {
        #expect(reading.answered(isGiven: true) == [.fetch(at: 0)])
        #expect(reading.came(part(8, rest: 3)) == [kept(8), .fetch(at: 8)])
        #expect(reading.came(part(3)) == [kept(3), .delete, .finish])
        #expect(reading.came(part(3)).isEmpty && reading.written().isEmpty)
    }

    @Test("an empty property is an empty content")
    mutating func empty() {
        _ = reading.answered(isGiven: true)
        #expect(reading.came(part(0)) == [.delete, .finish])
    }

    @Test("pieces are read one after another, each in parts, until one is empty")
    mutating func pieces() {
        beginPieces()
        #expect(reading.written() == [.fetch(at: 0)])
        #expect(reading.came(part(8, rest: 4)) == [kept(8), .fetch(at: 8)])
        #expect(reading.written().isEmpty)
        #expect(reading.came(part(4)) == [kept(4), .delete])
        #expect(reading.written() == [.fetch(at: 0)])
        #expect(reading.came(part(0, type: 0, format: 0)).isEmpty)
        #expect(reading.written() == [.fetch(at: 0)])
        #expect(reading.came(part(5)) == [kept(5), .delete])
        #expect(reading.written() == [.fetch(at: 0)])
        #expect(reading.came(part(0, type: 5)) == [.delete, .finish])
    }

    @Test("more than there may be is not read")
    mutating func tooMuch() {
        _ = reading.answered(isGiven: true)
        #expect(reading.came(part(4, rest: 17)) == [.delete, .fail(.tooLarge)])
        beginPieces()
        for _ in 0..<2 {
            _ = reading.written()
            #expect(reading.came(part(9)) == [kept(9), .delete])
        }
        _ = reading.written()
        #expect(reading.came(part(9)) == [.fail(.tooLarge)])
        #expect(reading.written().isEmpty)
        reading = X11Reading(incremental: Self.incremental, format: 8, maximum: 20)
        _ = reading.answered(isGiven: true)
        #expect(reading.came(part(4, type: Self.incremental, format: 32)) == [.fail(.tooLarge)])
    }

    @Test(
        "an owner that does not keep to the rules is given up",
        arguments: [
            (4, 0, 31, 32), (4, 0, 31, 16), (0, 0, 0, 0), (0, 4, 31, 8), (3, 4, 31, 8),
        ] as [(Int, Int, UInt32, Int)])
    func broken(_ count: Int, _ rest: Int, _ type: UInt32, _ format: Int) {
        var reading = reading
        _ = reading.answered(isGiven: true)
        #expect(reading.came(part(count, rest: rest, type: type, format: format)).last == .fail(.broken))
        #expect(reading.written().isEmpty && reading.answered(isGiven: true).isEmpty)
    }

    @Test("a type that changes on the way, pieces within pieces, and what cannot be fetched end it")
    mutating func changes() {
        beginPieces()
        var other = reading
        _ = (reading.written(), other.written())
        #expect(other.came(part(4, type: Self.incremental, format: 32)) == [.fail(.broken)])
        _ = reading.came(part(4))
        _ = reading.written()
        other = reading
        #expect(reading.came(part(4, type: 32)) == [.fail(.broken)])
        #expect(other.came(nil) == [.fail(.broken)])
    }

    @Test("an owner may refuse")
    mutating func refused() {
        #expect(reading.answered(isGiven: false) == [.fail(.refused)])
        #expect(reading.answered(isGiven: true).isEmpty)
    }
}

@Suite("How the clipboard of X11 is given in pieces")
struct X11SendingTests {
    @Test("all of it, then nothing, once")
    func pieces() {
        var sending = X11Sending(size: 10, pieceSize: 4)
        #expect(sending.next() == 0..<4 && sending.next() == 4..<8 && sending.next() == 8..<10)
        #expect(!sending.hasEnded)
        #expect(sending.next() == 10..<10 && sending.hasEnded)
        #expect(sending.next() == nil)
    }

    @Test("a last piece that is full is followed by nothing too")
    func full() {
        var sending = X11Sending(size: 8, pieceSize: 4)
        #expect(sending.next() == 0..<4 && sending.next() == 4..<8 && sending.next() == 8..<8)
        #expect(sending.next() == nil)
    }
}

@Suite("Who has the clipboard of X11")
struct X11OwnershipTests {
    private var ownership = X11Ownership()

    @Test("what is in it is told once, and can be read from then on")
    mutating func told() {
        #expect(!ownership.isDue && ownership.readable == nil)
        ownership.found(.other(time: 0))
        #expect(ownership.isDue && ownership.readable == nil)
        let question = ownership.ask()
        #expect(!ownership.isDue && ownership.readable == nil && ownership.isAsked(question))
        #expect(ownership.answered(question) && !ownership.answered(question))
        #expect(ownership.readable == 0)
    }

    @Test("what comes to be known after a change is not told, and cannot be read")
    mutating func outdated() {
        ownership.changed(to: .other(time: 1))
        ownership.found(.nobody)
        #expect(ownership.holder == .other(time: 1))
        let question = ownership.ask()
        ownership.changed(to: .other(time: 2))
        #expect(!ownership.answered(question) && ownership.isDue)
        let next = ownership.ask()
        #expect(!ownership.answered(question) && ownership.answered(next))
        #expect(ownership.readable == 2)
        ownership.changed(to: .nobody)
        #expect(ownership.readable == nil && ownership.isDue)
    }

    @Test("what is ours is not told, nor read")
    mutating func ours() {
        ownership.changed(to: .other(time: 1))
        ownership.take()
        #expect(!ownership.isDue && ownership.readable == nil)
        ownership.changed(to: .us)
        ownership.took(true)
        #expect(!ownership.isDue && ownership.readable == nil)
        ownership.changed(to: .other(time: 2))
        #expect(ownership.isDue)
    }

    @Test("a change while it is taken is told only if it was not got")
    mutating func taking() {
        ownership.changed(to: .nobody)
        let question = ownership.ask()
        ownership.take()
        #expect(!ownership.answered(question) && !ownership.isDue)
        ownership.took(false)
        #expect(ownership.isDue)
    }

    @Test("who does not want it any more is told what is there")
    mutating func givenUp() {
        ownership.changed(to: .nobody)
        let question = ownership.ask()
        let isTold = ownership.answered(question)
        #expect(isTold)
        ownership.take()
        ownership.giveUp()
        #expect(ownership.isDue)
        ownership.changed(to: .us)
        ownership.giveUp()
        #expect(!ownership.isDue)
    }
}

@Suite("The types of an owner on X11")
struct X11AtomsTests {
    @Test("what every owner has is left out, each counts once, and too many count as none")
    func types() throws {
        var last: UInt32 = 0
        let atoms = try #require(
            X11Atoms { _ in
                last += 1
                return last
            })
        let other = last + 1
        let targets = [
            0, atoms.targets, atoms.multiple, atoms.timestamp, other, atoms.saveTargets, other, 300,
        ]
        #expect(atoms.types(among: targets) == [other, 300])
        #expect(atoms.types(among: Array(500..<900)).isEmpty)
        let most = Array(500..<UInt32(500 + ClipboardTypes.maximum))
        #expect(atoms.types(among: most) == most)
        #expect(X11Atoms { $0 == "INCR" ? 0 : 1 } == nil)
    }
}
