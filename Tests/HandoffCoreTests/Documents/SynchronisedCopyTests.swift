// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("The copy of a document in a shared folder")
struct SynchronisedCopyTests {
    private static let second: Int64 = 1_000_000
    private static let origin = 1000 * second

    @Test(
        "it is the document if it is as large and not older, give or take two seconds, or if it is newer",
        arguments: [
            (10, 0, .current), (10, -2, .current), (10, 2, .current), (10, 500, .current), (10, -3, .behind),
            (9, 0, .behind), (9, -500, .behind), (9, 2, .behind), (9, 500, .current), (11, 3, .current),
        ] as [(UInt64, Int64, SynchronisedCopy.State)])
    func compared(size: UInt64, later: Int64, state: SynchronisedCopy.State) {
        let copy = SynchronisedCopy(size: size, modified: Self.origin + later * Self.second)
        #expect(copy.state(of: 10, Self.origin, now: Self.origin + 3600 * Self.second) == state)
    }

    @Test("what is newer, and has another size, may be half written until it has rested")
    func changing() {
        let copy = SynchronisedCopy(size: 5, modified: Self.origin + 60 * Self.second)
        #expect(copy.state(of: 10, Self.origin, now: copy.modified + 1) == .changing)
        #expect(copy.state(of: 10, Self.origin, now: copy.modified + SynchronisedCopy.rest) == .current)
    }

    @Test("what is not known does not count")
    func unknown() {
        let copy = SynchronisedCopy(size: 5, modified: Self.origin)
        #expect(copy.state(of: nil, nil, now: 0) == .current && copy.state(of: 5, nil, now: 0) == .current)
        #expect(copy.state(of: 6, nil, now: .max) == .behind)
        #expect(copy.state(of: nil, Self.origin + 3 * Self.second, now: .max) == .behind)
        #expect(copy.state(of: nil, Self.origin, now: 0) == .current)
    }

    @Test("no number is too large to be compared")
    func extremes() {
        for number: Int64 in [.min, -1, 0, 1, .max] {
            for other: Int64 in [.min, -1, 0, 1, .max] {
                for size: UInt64 in [0, 1, .max] {
                    _ = SynchronisedCopy(size: size, modified: number).state(of: 1, other, now: number)
                    _ = SynchronisedCopy(size: size, modified: number).state(of: 1, other, now: other)
                }
            }
        }
    }
}
