// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffSettingsModel
import HandoffStatus
import Testing

/// What devices send to each other, as the window shows it.
struct SendsTests {
    @Test("what was sent to this device comes first, marked as such, whatever is later")
    func invited() throws {
        var objects = try Samples.offer(1, title: "Later", since: Samples.now - 1)
        let sent = try Samples.offer(2, title: "Sent", invited: true, since: Samples.now - 1_000_000_000)
        objects.merge(sent) { first, _ in first }
        let page = Samples.content(Samples.report(Samples.broker(objects))).continuing
        #expect(page.offers.map(\.title) == ["Sent", "Later"])
        #expect(page.offers.map(\.isInvited) == [true, false])
    }

    @Test(
        "what is sent is shown while it is on its way, and why it has not arrived until that was read or is mended"
    )
    func sending() throws {
        let report = Samples.report(Samples.broker(), Samples.bridge(try Samples.device()))
        var state = WindowState()
        state.take(report)
        func rows() -> [SendRow] { WindowContent(state, at: Samples.now, Samples.names).continuing.sends }
        #expect(rows().isEmpty)
        #expect(state.send(to: Samples.device) == .send(Samples.device))
        #expect(rows().map(\.device) == ["desk"] && rows().map(\.standing) == [.running])
        state.finishSending(to: Samples.device, .failed(name: "", message: "It is too old."))
        #expect(rows().map(\.standing) == [.failed("It is too old.")])
        _ = state.send(to: Samples.device)
        #expect(rows().map(\.standing) == [.running])
        state.finishSending(to: Samples.device, .done)
        #expect(rows().isEmpty)
        _ = state.send(to: Samples.device)
        state.finishSending(to: Samples.device, .failed(name: "x.Failed", message: ""))
        guard rows().count == 1, case .failed(let reason)? = rows().first?.standing, !reason.isEmpty else {
            Issue.record("\(rows())")
            return
        }
        state.forgetSending(to: Samples.device)
        #expect(rows().isEmpty)
    }

    @Test(
        "what waits for a device that is away is shown with what it is, and devices that are away can be sent to"
    )
    func waiting() throws {
        var objects = try Samples.device(connected: false)
        let path = try #require(objects.keys.first)
        for (arrived, text) in [(Int64(0), "when the device is back"), (Samples.now - 1, "has arrived")] {
            objects[path]?["org.example.Handoff.Device"]?["Waiting"] = try .array(
                of: "a{sv}",
                [
                    .properties([
                        "Id": .string("aa"), "Title": .string("Minutes"), "Arrived": .int64(arrived),
                        "Since": .int64(Samples.now - 7_200_000_000),
                    ])
                ])
            var state = WindowState()
            state.take(Samples.report(Samples.broker(), Samples.bridge(objects)))
            let rows = WindowContent(state, at: Samples.now, Samples.names).continuing.sends
            #expect(rows.map(\.id) == ["aa"] && rows.map(\.deviceID) == [Samples.device])
            guard case .waiting("Minutes", let detail)? = rows.first?.standing else {
                Issue.record("\(rows)")
                continue
            }
            #expect(detail.contains(text))
        }
    }

    @Test("of several that are sent one after another, what has become of the last one counts")
    func several() {
        var sends = Sends()
        sends.begin(Samples.device)
        sends.begin(Samples.device)
        sends.finish(Samples.device, .failed(name: "", message: "No."))
        #expect(sends != Sends())
        sends.finish(Samples.device, .done)
        #expect(sends == Sends())
        // Nothing that is over comes back.
        sends.finish(Samples.device, .failed(name: "", message: "No."))
        #expect(sends == Sends())
    }

    @Test("what a device has not got is forgotten with the device, and what is on its way is not")
    func gone() throws {
        let report = Samples.report(Samples.broker(), Samples.bridge(try Samples.device()))
        var state = WindowState()
        state.take(report)
        _ = state.send(to: Samples.device)
        state.take(Samples.report())
        #expect(state.sends != Sends())
        state.finishSending(to: Samples.device, .failed(name: "", message: "No."))
        // While the bridge is gone, nobody knows which devices are paired.
        state.take(StatusReport(broker: .running(Samples.broker())))
        #expect(state.sends != Sends())
        state.take(Samples.report())
        #expect(state.sends == Sends())
    }

    @Test("what is sent to a telephone has its name until it is over, whatever is listed by then")
    func phone() {
        let phone = KnownPhone(id: "anna", name: "Anna")
        var sends = Sends()
        sends.begin(phone.target, phone)
        sends.keep(only: [])
        #expect(sends.rows([], at: 0).map(\.device) == ["Anna"])
        sends.finish(phone.target, .failed(name: "", message: "No."))
        sends.keep(only: [])
        #expect(sends.rows([], at: 0).map(\.standing) == [.failed("No.")])
        sends.forget(phone.target)
        #expect(sends == Sends())
        #expect(KnownPhone.meant(by: Samples.device, among: [phone]) == nil)
        #expect(KnownPhone.meant(by: "phone/bert", among: [phone])?.id == "bert")
    }
}
