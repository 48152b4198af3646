// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffSettingsModel
import Testing

/// Where the user types a name.
struct TypedNameTests {
    @Test("a name that is half typed stays, whatever else changes meanwhile")
    func halfTyped() {
        var name = TypedName()
        #expect(name.show("lap", over: "", hasKeyboard: false) == "lap")
        #expect(name.show("lap", over: "lap", hasKeyboard: true) == nil)
        #expect(name.show("lap", over: "la", hasKeyboard: true) == nil)
        #expect(name.show("desk", over: "la", hasKeyboard: true) == nil)
        // Where the user types no longer, the name is shown again.
        #expect(name.show("desk", over: "la", hasKeyboard: false) == "desk")
        // With the keyboard there and nothing typed, another name shows at once.
        #expect(name.show("pad", over: "desk", hasKeyboard: true) == "pad")
    }

    @Test("a name that was chosen and refused gives way to the one that there is")
    func refused() {
        var name = TypedName()
        _ = name.show("lap", over: "", hasKeyboard: false)
        name.choose("a/b")
        #expect(name.show("lap", over: "a/b", hasKeyboard: true) == "lap")
    }
}
