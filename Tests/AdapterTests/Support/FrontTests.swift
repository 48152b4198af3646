// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import DBus
import HandoffClient
import HandoffCore
import Testing

@Suite("The window in front, as adapters are told")
struct FrontTests {
    @Test("what the agent tells is a window, none, or that it is not known")
    func whatTheAgentTells() throws {
        let application = Value.string("com.example.player")
        var window = FocusedWindow()
        window.application = try ApplicationID("com.example.player")
        #expect(try Front.described(by: [:]) == .none)
        #expect(try Front.described(by: ["Known": .boolean(true)]) == .none)
        #expect(try Front.described(by: ["ApplicationId": application]) == .window(window))
        #expect(
            try Front.described(by: ["Known": .boolean(true), "ApplicationId": application])
                == .window(window))
        #expect(try Front.described(by: ["Known": .boolean(false)]) == .unknown)
        #expect(
            try Front.described(by: ["Known": .boolean(false), "ApplicationId": application]) == .unknown)
    }

    @Test("what is not what it should be is refused, also if nothing is known")
    func whatIsNotWhat() {
        for wrong: [String: Value] in [
            ["Known": .string("no")], ["Known": .boolean(false), "ApplicationId": .int32(1)],
        ] {
            #expect(throws: HandoffFailure.self) { try Front.described(by: wrong) }
        }
    }
}
