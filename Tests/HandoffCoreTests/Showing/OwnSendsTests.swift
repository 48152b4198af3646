// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What was sent from here")
struct OwnSendsTests {
    private typealias Device = OwnSends.Device

    @Test("why a device did not take what was sent from here is said once, when that is known")
    func failure() {
        var sends = OwnSends()
        sends.began("a")
        #expect(sends.update([Device(id: "a", isSending: true)]).isEmpty)
        let failed = Device(id: "a", isSending: false, error: "No room.")
        #expect(sends.update([failed, Device(id: "b", isSending: false, error: "Other")]) == [failed])
        #expect(sends.update([failed]).isEmpty)
    }

    @Test("nothing is said of what was taken, of a device that has gone, and of what others send afterwards")
    func silence() {
        var sends = OwnSends()
        sends.began("a")
        sends.began("b")
        #expect(sends.update([Device(id: "a", isSending: false)]).isEmpty)
        #expect(sends.update([Device(id: "a", isSending: true)]).isEmpty)
        let failed = ["a", "b"].map { Device(id: $0, isSending: false, error: "No room.") }
        #expect(sends.update(failed).isEmpty)
    }
}
