// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What is known of the user's defaults")
struct DefaultLookupsTests {
    private static let browser = "x-scheme-handler/https"

    @Test("nothing is looked up before somebody asks, and then once")
    func asked() throws {
        var lookups = DefaultLookups()
        let early = lookups.begin(at: .at(0))
        #expect(lookups.nextTime == nil && early.isEmpty)
        let unknown = lookups.answer("text/plain")
        #expect(unknown == nil && lookups.isPending(["text/plain"]))
        let begun = lookups.begin(at: .at(1))
        #expect(begun == ["text/plain"])
        let still = lookups.answer("text/plain")
        #expect(still == nil && lookups.nextTime == nil)
        let editor = try Example.application("editor")
        let isChanged = lookups.ended(["text/plain": editor], at: .at(2))
        let known = lookups.answer("text/plain")
        #expect(isChanged && known == editor && !lookups.isPending(["text/plain"]))
        #expect(lookups.nextTime == nil)
    }

    @Test("that nothing opens a type is an answer too")
    func nothing() {
        var lookups = DefaultLookups()
        _ = lookups.answer("text/plain")
        _ = lookups.begin(at: .at(0))
        let isChanged = lookups.ended([:], at: .at(1))
        let answer = lookups.answer("text/plain")
        #expect(!isChanged && answer == nil && lookups.nextTime == nil)
    }

    @Test("what is asked for during a look is looked up after a rest, the longer the longer the look was")
    func rest() {
        for (length, next) in [(1, 201), (100, 2100)] as [(Int64, Int64)] {
            var lookups = DefaultLookups()
            _ = lookups.answer("text/plain")
            _ = lookups.begin(at: .at(0))
            _ = lookups.answer("text/html")
            let during = lookups.begin(at: .at(0))
            #expect(lookups.nextTime == nil && during.isEmpty)
            _ = lookups.ended([:], at: .at(length))
            #expect(lookups.nextTime == .at(next))
            let early = lookups.begin(at: .at(next - 1))
            let due = lookups.begin(at: .at(next))
            #expect(early.isEmpty && due == ["text/html"])
        }
    }

    @Test("a look that cannot be made is no answer: what was known stays, and it is made after a rest")
    func failed() throws {
        var lookups = DefaultLookups()
        let editor = try Example.application("editor")
        _ = lookups.answer("text/plain")
        _ = lookups.begin(at: .at(0))
        _ = lookups.ended(["text/plain": editor], at: .at(1))
        lookups.changed()
        _ = lookups.answer("text/html")
        let both = lookups.begin(at: .at(1000))
        #expect(both == ["text/plain", "text/html"])
        lookups.failed(at: .at(1000))
        let known = lookups.answer("text/plain")
        #expect(known == editor && lookups.isPending(["text/plain", "text/html"]))
        #expect(lookups.nextTime == .at(2000))
        let again = lookups.begin(at: .at(2000))
        #expect(again == both)
    }

    @Test("after a change all answers are looked up again, and those of a look that began before it")
    func changed() throws {
        var lookups = DefaultLookups()
        lookups.changed()
        #expect(lookups.nextTime == nil)
        _ = lookups.answer("text/plain")
        _ = lookups.begin(at: .at(0))
        lookups.changed()
        let editor = try Example.application("editor")
        _ = lookups.ended(["text/plain": editor], at: .at(1))
        // It counts until there is a newer one.
        let former = lookups.answer("text/plain")
        #expect(former == editor && lookups.isPending(["text/plain"]))
        let again = lookups.begin(at: .at(1000))
        #expect(again == ["text/plain"])
        let isChanged = lookups.ended([:], at: .at(1001))
        let newer = lookups.answer("text/plain")
        #expect(isChanged && newer == nil && !lookups.isPending(["text/plain"]))
        lookups.changed()
        let later = lookups.begin(at: .at(5000))
        #expect(later == ["text/plain"])
    }

    @Test("whoever waits for the browser waits for nothing else, whatever peers have looked up")
    func waitsForNothingElse() {
        var lookups = DefaultLookups()
        _ = lookups.answer(Self.browser)
        _ = lookups.begin(at: .at(0))
        _ = lookups.answer("text/chosen-by-a-peer")
        #expect(lookups.isPending([Self.browser]))
        _ = lookups.ended([:], at: .at(1))
        let browser = lookups.answer(Self.browser)
        #expect(browser == nil && !lookups.isPending([Self.browser]))
        let begun = lookups.begin(at: .at(1000))
        #expect(begun == ["text/chosen-by-a-peer"])
        let again = lookups.answer(Self.browser)
        #expect(again == nil && !lookups.isPending([Self.browser]))
    }

    @Test("however many types peers choose, no more than so many are kept or looked up at a time")
    func bounds() {
        var lookups = DefaultLookups()
        for number in 0..<10_000 { _ = lookups.answer("text/x-\(number)") }
        let begun = lookups.begin(at: .at(0))
        #expect(begun.count == DefaultLookups.maximumAnswers)
    }

    @Test(
        "one look at a time, with a rest between, and every answer is newer than the last change",
        arguments: 1...40)
    func invariants(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var lookups = DefaultLookups()
        var now = Instant.at(0)
        let types = (0..<6).map { "text/x-\($0)" }
        /// What opens everything at the moment, and what did when the look that is under way began.
        var (truth, seen): (ApplicationID?, ApplicationID?) = (nil, nil)
        var (looking, lastEnd): (Set<String>?, Instant?) = (nil, nil)
        var asked: Set<String> = []
        for _ in 0..<400 {
            now = now.advanced(by: .milliseconds(Int.random(in: 0...150, using: &generator)))
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                truth = generator.chance(30) ? nil : try Example.application(generator.chance(50) ? "a" : "b")
                lookups.changed()
            case 1:
                guard let under = looking else { continue }
                let found = seen.map { seen in Dictionary(uniqueKeysWithValues: under.map { ($0, seen) }) }
                _ = lookups.ended(found ?? [:], at: now)
                (looking, lastEnd) = (nil, now)
            case 2:
                let type = try generator.pick(types)
                asked.insert(type)
                _ = lookups.answer(type)
            default:
                let begun = lookups.begin(at: now)
                guard !begun.isEmpty else { continue }
                #expect(looking == nil && begun.isSubset(of: asked))
                #expect((lastEnd.map { $0.duration(to: now) } ?? .seconds(1)) >= DefaultLookups.shortestRest)
                (looking, seen) = (begun, truth)
            }
            for type in asked where !lookups.isPending([type]) {
                let answer = lookups.answer(type)
                #expect(answer == truth)
            }
            #expect(looking == nil || lookups.nextTime == nil)
        }
    }
}
