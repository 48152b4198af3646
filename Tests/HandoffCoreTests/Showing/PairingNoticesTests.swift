// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What is shown of pairing")
struct PairingNoticesTests {
    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func device(
        _ id: String, _ stage: Pairing.Stage, code: String = "123 456", name: String = "lap",
        isAsking: Bool = true
    ) -> PairingNotices.Device {
        PairingNotices.Device(
            id: id, name: name, stage: stage, isAsking: stage == .waiting && isAsking,
            code: stage == .comparing || stage == .confirmed ? code : "")
    }

    private func here() -> PairingNotices {
        var notices = PairingNotices()
        _ = notices.unlocked(at: at(0))
        return notices
    }

    @Test("a device that asks is shown unless the answer comes by itself, and then the code in its place")
    func order() {
        var notices = here()
        #expect(notices.update([device("a", .waiting)], at: at(1)) == [])
        #expect(notices.nextTime == at(1.3))
        #expect(notices.advance(to: at(1.3)) == [.ask(device("a", .waiting))])
        #expect(notices.update([device("a", .comparing)], at: at(2)) == [.compare(device("a", .comparing))])
        #expect(notices.update([device("a", .confirmed)], at: at(3)) == [.withdraw("a")])
        #expect(notices.update([device("a", .none)], at: at(4)) == [])
    }

    @Test("a code is shown at once, each new one too, and taken back when it is over")
    func code() {
        var notices = here()
        #expect(notices.update([device("a", .comparing)], at: at(1)) == [.compare(device("a", .comparing))])
        let other = device("a", .comparing, code: "654 321")
        #expect(notices.update([other], at: at(1)) == [.compare(other)])
        #expect(notices.update([], at: at(2)) == [.withdraw("a")])
    }

    @Test("a name that changes, and putting it away, show nothing again")
    func quiet() {
        var notices = here()
        _ = notices.update([device("a", .comparing)], at: at(1))
        #expect(notices.update([device("a", .comparing, name: "x")], at: at(2)) == [])
        notices.closed("a")
        #expect(notices.update([device("a", .comparing, name: "y")], at: at(3)) == [])
        #expect(notices.nextTime == nil)
        #expect(notices.update([device("a", .comparing, code: "1")], at: at(3)).count == 1)
    }

    @Test("nothing is shown while the session is locked, and what is still compared afterwards")
    func locked() {
        var notices = here()
        _ = notices.update([device("a", .comparing)], at: at(1))
        #expect(notices.locked() == [.withdraw("a")])
        #expect(notices.update([device("a", .comparing), device("b", .waiting)], at: at(2)) == [])
        #expect(
            notices.unlocked(at: at(9)) == [
                .compare(device("a", .comparing)), .ask(device("b", .waiting)),
            ])
    }

    @Test("a device that this one has asked is not shown until there is a code")
    func ownRequest() {
        var notices = here()
        #expect(notices.update([device("a", .waiting, isAsking: false)], at: at(1)) == [])
        #expect(notices.nextTime == nil)
        #expect(notices.update([device("a", .comparing)], at: at(2)) == [.compare(device("a", .comparing))])
    }

    @Test("the question is taken back when the user has agreed elsewhere")
    func agreed() {
        var notices = here()
        _ = notices.update([device("a", .waiting)], at: at(1))
        #expect(notices.advance(to: at(2)) == [.ask(device("a", .waiting))])
        #expect(notices.update([device("a", .waiting, isAsking: false)], at: at(3)) == [.withdraw("a")])
    }

    @Test("strangers cannot fill the screen")
    func crowd() {
        var notices = here()
        let all = (0..<100).map { device("\($0)", .comparing) }
        #expect(notices.update(all, at: at(1)).count == PairingNotices.maximum)
    }

    @Test(
        "of many that ask few are shown in ten seconds, and then the latest; a code is always shown at once")
    func paced() {
        var notices = here()
        var asked: [String] = []
        for number in 0..<100 {
            let now = at(1 + Double(number) / 10)
            let asking = PairingNotices.Device(
                id: "\(number)", name: "Pad", stage: .waiting, isAsking: true)
            for action in notices.update([asking], at: now)
                + notices.advance(to: now.advanced(by: PairingNotices.patience))
            {
                if case .ask(let device) = action { asked.append(device.id) }
            }
        }
        #expect(asked == ["0", "1", "2"])
        #expect(notices.nextTime == at(11).advanced(by: PairingNotices.patience))
        #expect(
            notices.update([device("code", .comparing)], at: at(11)).contains(
                .compare(device("code", .comparing))))
    }
}
