// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("How fast a document has to be")
struct DocumentPaceTests {
    private static let least = DocumentPace.minimum

    @Test(
        "in each minute 64 KiB have to move, or what is left of a document whose size is known",
        arguments: [
            (nil, [least], true), (nil, [least - 1], false), (nil, [least, 2 * least - 1], false),
            (nil, [10 * least, 11 * least], true), (nil, [10 * least, 10 * least + 1], false),
            (5, [5], true), (5, [4], false), (5, [5, 5, 5], true), (0, [0, 0], true),
            (least + 5, [least, least + 5, least + 5], true), (least + 5, [least, least + 4], false),
            (3 * least, [0], false), (UInt64.max, [least, 2 * least], true),
            (UInt64.max, [.max, .max], true),
            // More came than was announced, which is found out elsewhere.
            (5, [10, 10], true),
        ] as [(UInt64?, [UInt64], Bool)])
    func periods(size: UInt64?, counts: [UInt64], isEnough: Bool) {
        var pace = DocumentPace(of: size, at: .at(0))
        var enough: [Bool] = []
        for (number, count) in counts.enumerated() {
            let end = 60_000 * (Int64(number) + 1)
            #expect(pace.periodEnd == .at(end))
            pace.moved(count, of: size)
            #expect(pace.advance(to: .at(end - 1)) == true, "nothing is judged before its time")
            enough.append(pace.advance(to: .at(end)))
        }
        #expect(enough == counts.indices.map { $0 < counts.count - 1 || isEnough })
    }

    @Test("the size may become known later, and a period lasts until somebody looks")
    func late() {
        var pace = DocumentPace(at: .at(0))
        pace.moved(3, of: 3)
        #expect(pace.advance(to: .at(100_000)) == true)
        #expect(pace.periodEnd == .at(160_000))
        #expect(pace.advance(to: .at(160_000)) == true)
    }

    @Test(
        "a link of 64 kbit/s is never too slow, in whatever pieces it brings a document", arguments: 1...100)
    func slowLink(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let size = UInt64.random(in: 1...5_000_000, using: &generator)
        var pace = DocumentPace(of: generator.chance(50) ? size : nil, at: .at(0))
        var (now, count): (Int64, UInt64) = (0, 0)
        while count < size {
            // What has gathered in buffers comes at once, up to 256 KiB.
            let pause = Int64.random(in: 1...32_000, using: &generator)
            now += pause
            count = min(size, count + UInt64(pause) * 8)
            pace.moved(count, of: generator.chance(90) ? size : nil)
            #expect(pace.advance(to: .at(now)) == true)
        }
    }

    @Test(
        "who moves less in every minute is found out within two, however large the document is",
        arguments: 1...100)
    func drips(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var pace = DocumentPace(of: .random(in: 1_000_000...(.max), using: &generator), at: .at(0))
        var (now, count): (Int64, UInt64) = (0, .random(in: 0...500_000, using: &generator))
        while now <= 180_000 {
            pace.moved(count, of: .max)
            guard pace.advance(to: .at(now)) else { break }
            now += .random(in: 1...1000, using: &generator)
            count += 1
        }
        #expect((60_000...122_000).contains(now))
    }

    @Test("the acknowledgement is awaited longer where more may be under way, but not for ever")
    func receipt() {
        #expect(DocumentPace.receipt(of: 5) == .seconds(60))
        #expect(DocumentPace.receipt(of: 480 << 10) == .seconds(120))
        #expect(DocumentPace.receipt(of: .max) == .seconds(188))
    }
}
