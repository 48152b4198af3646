// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import TestSupport
import Testing

@testable import HandoffClient

@Suite("The continuations that a client is handed")
struct ContinuationBookTests {
    @Test("what was announced and is handed over owes nothing when the broker dies")
    func handedOver() {
        var book = ContinuationBook()
        let key = book.announce("/c/1", type: "t")
        #expect(book.handOver("/c/1") == key)
        #expect(book.path(of: key) == "/c/1")
        #expect(book.ended().isEmpty)
        #expect(book.path(of: key) == nil)
    }

    @Test("what was announced and did not come is said once when the broker dies")
    func brokerDies() {
        var book = ContinuationBook()
        let (one, other) = (book.announce("/c/1", type: "t"), book.announce("/c/2", type: "u"))
        #expect(book.ended() == [.init(key: one, type: "t"), .init(key: other, type: "u")])
        #expect(book.ended().isEmpty)
    }

    @Test("the broker's word that something does not come is enough")
    func calledOff() {
        var book = ContinuationBook()
        let key = book.announce("/c/1", type: "t")
        #expect(book.callOff(type: "t") == .init(key: key, type: "t"))
        #expect(book.ended().isEmpty)
        #expect(book.callOff(type: "t") == .init(key: nil, type: "t"))
    }

    @Test("of several of one type, it is not known which does not come; the others still do")
    func ambiguous() {
        var book = ContinuationBook()
        let (one, other) = (book.announce("/c/1", type: "t"), book.announce("/c/2", type: "t"))
        #expect(book.callOff(type: "t") == .init(key: nil, type: "t"))
        var continued = book
        #expect(continued.handOver("/c/2") == other)
        #expect(continued.ended().isEmpty)
        #expect(book.ended() == [.init(key: nil, type: "t")])
        #expect(one != other)
    }

    @Test("a continuation that was not announced has a number of its own")
    func unannounced() {
        var book = ContinuationBook()
        let (one, other) = (book.handOver("/c/1"), book.handOver("/c/2"))
        #expect(one != other)
        #expect(book.release(one) == "/c/1")
        #expect(book.release(one) == nil)
    }

    @Test("each that was announced is handed over or said not to come, and never both", arguments: 0..<200)
    func exactlyOnce(seed: UInt64) throws {
        var (random, book) = (Seeded(seed), ContinuationBook())
        var owed: [String: Int] = [:]
        var coming: [(path: ObjectPath, type: String)] = []
        for number in 0..<60 {
            switch random.below(4) {
            case 0, 1:
                let (path, type) = (try ObjectPath("/c/\(number)"), "t\(random.below(2))")
                _ = book.announce(path, type: type)
                coming.append((path, type))
                owed[type, default: 0] += 1
            case 2:
                guard !coming.isEmpty else { continue }
                let one = coming.remove(at: random.below(coming.count))
                _ = book.handOver(one.path)
                owed[one.type, default: 0] -= 1
            default:
                guard !coming.isEmpty else { continue }
                let one = coming.remove(at: random.below(coming.count))
                _ = book.callOff(type: one.type)
                owed[one.type, default: 0] -= 1
            }
        }
        let said = Dictionary(grouping: book.ended(), by: \.type).mapValues(\.count)
        #expect(said == owed.filter { $0.value > 0 })
    }
}
