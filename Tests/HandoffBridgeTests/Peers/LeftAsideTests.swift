// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import Testing

@testable import HandoffBridge

@Suite("What a peer has left here beside what it offered")
struct LeftAsideTests {
    private var aside = LeftAside()
    private let second: Int64 = 1_000_000

    private mutating func leave(
        _ number: Int, size: Int = 100, link: Int = 1, until: Int64 = 100, at now: Int64 = 0
    ) throws -> Bool {
        let digits = "0000000\(number)".suffix(2)
        let id = try #require(ActivityID(String(repeating: "0", count: 30) + digits))
        let parked = PeerOffer.Parked(payload: PackedProperties(), since: now * second, until: until * second)
        do {
            try aside.left(id, [:], parked, size: size, link: link, at: now * second)
            return true
        } catch {
            #expect(error.code == .limitsExceeded)
            return false
        }
    }

    private func ids(at now: Int64 = 0) -> [String] {
        aside.items(at: now * second).map { String($0.id.description.suffix(1)) }
    }

    @Test("is listed in the order in which it came; what came before another sleep goes")
    mutating func order() throws {
        for number in [3, 1, 2] { #expect(try leave(number)) }
        #expect(try leave(1))
        #expect(ids() == ["3", "2", "1"])
        #expect(try leave(4, link: 2))
        #expect(ids() == ["4"])
    }

    @Test("stays while its link is there, goes with the next one, by itself, or all at once")
    mutating func ends() throws {
        for number in 1...3 { #expect(try leave(number)) }
        aside.linked(1)
        #expect(ids().count == 3 && aside.first?.parked.since == 0)
        aside.drop(ActivityID(String(repeating: "0", count: 31) + "2"))
        #expect(ids() == ["1", "3"])
        aside.linked(2)
        #expect(ids().isEmpty && aside.first == nil && aside.nextDeadline == nil)
        #expect(try leave(1, link: 2))
        aside.drop()
        #expect(ids().isEmpty)
    }

    @Test("goes when it has expired")
    mutating func expires() throws {
        #expect(try leave(1, until: 5))
        #expect(try leave(2, until: 9))
        #expect(aside.nextDeadline == 5 * second)
        #expect(ids(at: 5) == ["2"])
        aside.advance(to: 5 * second)
        #expect(aside.nextDeadline == 9 * second)
    }

    @Test("is eight at most, of 64 KiB each and 512 KiB together, in ten seconds")
    mutating func limits() throws {
        #expect(try !leave(1, size: 64 << 10 + 1))
        for number in 1...8 { #expect(try leave(number, size: 64 << 10)) }
        #expect(try !leave(9, size: 8))
        #expect(ids() == ["1", "2", "3", "4", "5", "6", "7", "8"])
        // Neither another link nor the same activity again makes more of it, and what is refused takes nothing away.
        #expect(try !leave(1, link: 2, at: 9))
        #expect(ids(at: 9).count == 8)
        #expect(try leave(1, link: 2, at: 10))
    }
}
