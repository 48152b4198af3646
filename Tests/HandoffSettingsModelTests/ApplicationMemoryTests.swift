// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffSettingsModel
import Testing

/// What the window knows of applications.
struct ApplicationMemoryTests {
    @Test("an application is looked up once, elsewhere, whether it is installed or not")
    func once() {
        var memory = ApplicationMemory<String>()
        #expect(memory.entry("a") == nil)
        #expect(memory.entry("b") == nil)
        #expect(memory.settle() == ["a", "b"])
        // A look is under way, and others wait for its end.
        _ = (memory.entry("a"), memory.entry("b"), memory.entry("c"))
        #expect(memory.settle().isEmpty)
        memory.take(["a": "A", "b": nil, "z": "Z"])
        #expect(memory.entry("a") == "A")
        #expect(memory.entry("b") == nil)
        #expect(memory.entry("z") == nil)
        _ = memory.entry("c")
        #expect(memory.settle() == ["c", "z"])
    }

    @Test("what is shown no longer is forgotten")
    func forgets() {
        var memory = ApplicationMemory<String>()
        _ = (memory.entry("a"), memory.entry("b"), memory.entry("c"))
        #expect(memory.settle() == ["a", "b", "c"])
        memory.take(["a": "A", "b": "B", "c": "C"])
        _ = memory.entry("a")
        // A picture of it is still there.
        #expect(memory.settle(["b"]).isEmpty)
        #expect(memory.entry("b") == "B")
        #expect(memory.entry("c") == nil)
        #expect(memory.settle(["a"]) == ["c"])
    }

    @Test("however many applications others name, it has an end")
    func bounded() {
        var memory = ApplicationMemory<String>()
        let maximum = ApplicationMemory<String>.maximum
        let ids = (0..<maximum + 100).map { "id\($0)" }
        for id in ids { _ = memory.entry(id) }
        let wanted = memory.settle(Set(ids))
        #expect(Set(wanted) == Set(ids.prefix(maximum)))
        memory.take(Dictionary(uniqueKeysWithValues: wanted.map { ($0, $0) }))
        for id in ids { #expect(memory.entry(id) == (wanted.contains(id) ? id : nil)) }
        // What is beyond that is not looked up again and again.
        #expect(memory.settle().isEmpty)
    }

    @Test("when applications come or go, what was known stays until it was looked up again")
    func outdated() {
        var memory = ApplicationMemory<String>()
        _ = memory.entry("a")
        #expect(memory.settle() == ["a"])
        // What is being looked up may be out of date already.
        memory.outdate()
        memory.take(["a": "A"])
        #expect(memory.entry("a") == "A")
        #expect(memory.settle() == ["a"])
        memory.take(["a": nil])
        #expect(memory.entry("a") == nil)
        #expect(memory.settle().isEmpty)
        // A look that has not come about is made again.
        memory.outdate()
        _ = memory.entry("a")
        #expect(memory.settle() == ["a"])
        memory.take([:])
        _ = (memory.entry("a"), memory.entry("b"))
        #expect(memory.settle() == ["b"])
    }
}
