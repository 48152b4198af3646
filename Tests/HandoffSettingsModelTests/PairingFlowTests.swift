// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffSettingsModel
import HandoffStatus
import Testing

/// How the user pairs this device with another one.
struct PairingFlowTests {
    private let id = Samples.other

    private func report(
        _ state: String = "none", code: String = "", error: String = "", errorName: String = "",
        paired: Bool = false
    ) throws -> StatusReport {
        let device = try Samples.device(
            id, name: "pad", paired: paired, state: state, code: code, error: error,
            errorName: errorName)
        return Samples.report(Samples.broker(), Samples.bridge(device))
    }

    private var pad: PairingFlow.Other { PairingFlow.Other(id: id, name: "pad") }

    @Test("two devices pair when both users say that the codes match")
    func pairs() throws {
        var flow = PairingFlow(try report())
        #expect(flow.beginning == [.setDiscoverable(true)])
        #expect(flow.choose(addresses: ["", "192.0.2.1:5"]) == [.connect(["192.0.2.1:5"])])
        #expect(flow.step == .connecting(["192.0.2.1:5"]))
        #expect(flow.finish(.connect(["192.0.2.1:5"]), .device(id)) == [.pair(id)])
        #expect(flow.step == .waiting(pad))
        // It has not begun, so that there is nothing to be concluded from.
        _ = flow.take(try report())
        #expect(flow.step == .waiting(pad))
        _ = flow.take(try report("waiting"))
        _ = flow.take(try report("comparing", code: "123456"))
        #expect(flow.step == .comparing(pad, code: "123456"))
        #expect(flow.answer("123456", matches: true) == [.confirmPairing(id, matches: true)])
        #expect(flow.answer("123456", matches: true).isEmpty)
        _ = flow.take(try report("comparing", code: "123456"))
        #expect(flow.step == .confirmed(pad, code: "123456"))
        _ = flow.take(try report("none", paired: true))
        #expect(flow.step == .paired(pad))
        #expect(flow.end() == [.setDiscoverable(false)])
    }

    @Test("a device that asks shows its code as soon as it is chosen")
    func asked() throws {
        var flow = PairingFlow(try report("comparing", code: "000111"))
        #expect(flow.choose(device: id) == [.pair(id)])
        #expect(flow.step == .comparing(pad, code: "000111"))
    }

    @Test("the only device that asks is chosen by itself, unless the user has given it up; one of two is not")
    func chosenByItself() throws {
        var flow = PairingFlow(try report())
        #expect(flow.take(try report("comparing", code: "000111")) == [.pair(id)])
        #expect(flow.step == .comparing(pad, code: "000111"))
        #expect(flow.restart() == [.cancelPairing(id), .setDiscoverable(true)])
        #expect(flow.take(try report("comparing", code: "000111")).isEmpty && flow.step == .choosing)
        let another = String(id.reversed())
        let two = try [id, another].map { try Samples.device($0, name: "pad", state: "comparing", code: "1") }
        let both = two[0].merging(two[1]) { first, _ in first }
        var other = PairingFlow(nil)
        #expect(other.take(Samples.report(Samples.broker(), Samples.bridge(both))).isEmpty)
        #expect(other.step == .choosing)
    }

    @Test(
        "who asks is not chosen in place of what the user has chosen or is typing, nor beside others that are nearby"
    )
    func chosenInstead() throws {
        var flow = PairingFlow(nil)
        #expect(flow.choose(addresses: ["192.0.2.1:5"]) == [.connect(["192.0.2.1:5"])])
        #expect(flow.take(try report("comparing", code: "000111")).isEmpty)
        #expect(flow.step == .connecting(["192.0.2.1:5"]))
        var typing = PairingFlow(nil)
        #expect(typing.take(try report("comparing", code: "000111"), isTyping: true).isEmpty)
        let two = try [("comparing", id), ("none", String(id.reversed()))].map {
            try Samples.device($0.1, name: "pad", paired: false, state: $0.0, code: "1")
        }
        var beside = PairingFlow(nil)
        let both = two[0].merging(two[1]) { first, _ in first }
        #expect(beside.take(Samples.report(Samples.broker(), Samples.bridge(both))).isEmpty)
    }

    @Test("pairing that the user has confirmed elsewhere goes on when the dialog is closed")
    func adopted() throws {
        var flow = PairingFlow(nil)
        #expect(flow.take(try report("confirmed")) == [.pair(id)])
        #expect(flow.end() == [.setDiscoverable(false)])
    }

    @Test("codes that differ end it, and it can begin again")
    func differs() throws {
        var flow = PairingFlow(try report("comparing", code: "000111"))
        _ = flow.choose(device: id)
        #expect(flow.answer("000111", matches: false) == [.confirmPairing(id, matches: false)])
        guard case .failed = flow.step else {
            Issue.record("it goes on")
            return
        }
        _ = flow.take(try report("none", error: "Not the same."))
        #expect(flow.restart() == [.setDiscoverable(true)])
        #expect(flow.step == .choosing)
    }

    @Test(
        "whatever ends it early is said",
        arguments: [
            ("none", "It took too long.", "The devices were not paired. Try again. “It took too long.”"),
            ("none", "", "The other device has given up."),
        ])
    func ends(_ state: String, _ error: String, _ shown: String) throws {
        var flow = PairingFlow(try report())
        _ = flow.choose(device: id)
        _ = flow.take(try report("waiting"))
        _ = flow.take(try report(state, error: error))
        #expect(flow.step == .failed(shown))
    }

    @Test(
        "why it has failed is said in the user's language, by the name of the error",
        arguments: [
            (
                "org.example.Handoff.Error.Cancelled",
                "Pairing was ended on one of the devices: the digits differed, somebody has cancelled it, or nobody agreed in time."
            ),
            ("org.freedesktop.DBus.Error.Timeout", "Nobody has agreed in time. Pair them again."),
            (
                "org.example.Handoff.Error.ConnectionUnavailable",
                "The other device cannot be reached. See whether it is switched on and on the same network."
            ),
            (
                "org.example.Handoff.Error.PairingFailed",
                "The devices were not paired. Try again. “In the ' words of a daemon.”"
            ),
        ])
    func named(_ name: String, _ shown: String) throws {
        var flow = PairingFlow(try report())
        _ = flow.choose(device: id)
        _ = flow.take(try report("waiting"))
        _ = flow.take(try report("none", error: "In the “ words of a daemon.", errorName: name))
        #expect(flow.step == .failed(shown))
    }

    @Test("a device, or a bridge, that is gone is noticed")
    func gone() throws {
        var flow = PairingFlow(try report("waiting"))
        _ = flow.choose(device: id)
        _ = flow.take(Samples.report())
        #expect(flow.step == .failed("The other device is gone. Try again."))
        _ = flow.restart()
        _ = flow.choose(device: id)
        _ = flow.take(StatusReport())
        #expect(flow.step == .failed("The bridge has ended. Try again."))
    }

    @Test("what is refused says why; an answer that comes too late changes nothing")
    func refused() throws {
        var flow = PairingFlow(try report())
        _ = flow.choose(device: id)
        _ = flow.finish(.pair(Samples.device), .failed(name: "", message: "of another"))
        #expect(flow.step == .waiting(pad))
        _ = flow.finish(.pair(id), .failed(name: "", message: "There are 62 peers."))
        #expect(flow.step == .failed("There are 62 peers."))
        _ = flow.finish(.connect(["a"]), .device(Samples.device))
        #expect(flow.step == .failed("There are 62 peers."))
    }

    @Test("what comes of a connection that was given up says nothing of the one that was chosen then")
    func anotherConnection() throws {
        var flow = PairingFlow(try report())
        let (slow, chosen) = (["192.0.2.1:5"], ["192.0.2.2:5"])
        _ = flow.choose(addresses: slow)
        _ = flow.restart()
        #expect(flow.choose(addresses: chosen) == [.connect(chosen)])
        #expect(flow.finish(.connect(slow), .device(Samples.device)).isEmpty)
        #expect(flow.step == .connecting(chosen))
        #expect(flow.finish(.connect(slow), .failed(name: "", message: "Nobody answers.")).isEmpty)
        #expect(flow.step == .connecting(chosen))
        #expect(flow.finish(.connect(chosen), .device(id)) == [.pair(id)])
        #expect(flow.step == .waiting(pad))
    }

    @Test("closing the dialog gives up what is under way, and hides this device again")
    func closed() throws {
        for state in ["waiting", "comparing", "confirmed"] {
            var flow = PairingFlow(try report(state, code: "111222"))
            _ = flow.choose(device: id)
            #expect(flow.end() == [.cancelPairing(id), .setDiscoverable(false)])
            #expect(flow.step == .choosing)
        }
    }

    @Test(
        "while the user chooses, this device can be found, even after the bridge has ended that, or has begun anew"
    )
    func discoverable() throws {
        let (on, off) = (Samples.bridge([:], ["Discoverable": .boolean(true)]), Samples.bridge())
        var flow = PairingFlow(Samples.report())
        // The answer to the first request is yet to come.
        #expect(flow.take(Samples.report(Samples.broker(), off)).isEmpty)
        _ = flow.finish(.setDiscoverable(true), .done)
        #expect(flow.take(Samples.report(Samples.broker(), on)).isEmpty)
        #expect(flow.take(Samples.report(Samples.broker(), off)) == [.setDiscoverable(true)])
        #expect(flow.take(Samples.report(Samples.broker(), off)).isEmpty)
        _ = flow.finish(.setDiscoverable(true), .failed(name: "", message: "It has ended."))
        #expect(flow.take(StatusReport()).isEmpty)
        #expect(flow.take(Samples.report(Samples.broker(), off)) == [.setDiscoverable(true)])
        _ = flow.finish(.setDiscoverable(true), .done)
        // A device that was chosen already need not find this one.
        _ = flow.choose(addresses: ["192.0.2.1:5"])
        #expect(flow.take(Samples.report(Samples.broker(), off)).isEmpty)
    }

    @Test("pairing that ends as soon as it has begun says why", arguments: [true, false])
    func endsAtOnce(isToldFirst: Bool) throws {
        var flow = PairingFlow(try report("none", error: "It took too long."))
        _ = flow.choose(device: id)
        // That is why it failed before.
        _ = flow.take(try report("none", error: "It took too long."))
        #expect(flow.step == .waiting(pad))
        if isToldFirst {
            _ = flow.take(try report("none", error: "It is full."))
        } else {
            _ = flow.take(try report("waiting"))
        }
        _ = flow.finish(.pair(id), .done)
        if !isToldFirst {
            #expect(flow.step == .waiting(pad))
            _ = flow.take(try report("none", error: "It is full."))
        }
        #expect(flow.step == .failed("The devices were not paired. Try again. “It is full.”"))
    }

    @Test("what comes of pairing that was given up says nothing of another attempt with the same device")
    func anotherAttempt() throws {
        var flow = PairingFlow(try report())
        _ = flow.choose(device: id)
        #expect(flow.restart() == [.cancelPairing(id), .setDiscoverable(true)])
        _ = flow.choose(device: id)
        _ = flow.finish(.pair(id), .failed(name: "", message: "It is full."))
        #expect(flow.step == .waiting(pad))
        _ = flow.finish(.pair(id), .failed(name: "", message: "There are 62 peers."))
        #expect(flow.step == .failed("There are 62 peers."))
    }

    @Test("what is over stays as it was when the bridge ends")
    func over() throws {
        var flow = PairingFlow(try report("confirmed"))
        _ = flow.choose(device: id)
        _ = flow.take(try report("none", paired: true))
        _ = flow.take(StatusReport())
        _ = flow.take(try report())
        #expect(flow.step == .paired(pad))
        flow = PairingFlow(try report("waiting"))
        _ = flow.choose(device: id)
        _ = flow.take(try report("none", error: "It is full."))
        _ = flow.take(StatusReport())
        #expect(flow.step == .failed("The devices were not paired. Try again. “It is full.”"))
    }

    @Test("what the user says counts for the code that was shown, and for no other")
    func anotherCode() throws {
        var flow = PairingFlow(try report("comparing", code: "123456"))
        _ = flow.choose(device: id)
        #expect(flow.answer("654321", matches: true).isEmpty)
        #expect(flow.step == .comparing(pad, code: "123456"))
        for hasAnswered in [false, true] {
            flow = PairingFlow(try report("comparing", code: "123456"))
            _ = flow.choose(device: id)
            if hasAnswered { _ = flow.answer("123456", matches: true) }
            _ = flow.take(try report("comparing", code: "654321"))
            #expect(
                flow.step == .failed("The digits have changed, because pairing has begun anew. Try again."))
            #expect(flow.answer("654321", matches: true).isEmpty)
        }
    }

    @Test("what the device introduces that was just paired can be accepted at once, whenever it comes")
    func introduced() throws {
        let third = String(repeating: "ef", count: 32)
        func report(_ introduction: String, by introducer: String) throws -> StatusReport {
            let paired = try Samples.device(id, name: "pad")
            let other = try Samples.device(
                third, name: "mini", paired: introduction == "accepted", connected: false,
                introducedBy: [introducer], introduction: introduction)
            return Samples.report(
                Samples.broker(), Samples.bridge(paired.merging(other) { first, _ in first }))
        }
        var flow = PairingFlow(try self.report("confirmed"))
        _ = flow.choose(device: id)
        _ = flow.take(try report("offered", by: Samples.device))
        #expect(flow.step == .paired(pad))
        #expect(flow.introduced.isEmpty, "another device introduces it")
        _ = flow.take(try report("offered", by: id))
        #expect(flow.introduced == [PairingFlow.Other(id: third, name: "mini")])
        for introduction in ["declined", "accepted"] {
            _ = flow.take(try report(introduction, by: id))
            #expect(flow.introduced.isEmpty && flow.step == .paired(pad))
        }
        _ = flow.take(try report("offered", by: id))
        _ = flow.end()
        #expect(flow.introduced.isEmpty)
    }

    @Test("nothing is chosen twice")
    func once() throws {
        var flow = PairingFlow(try report())
        _ = flow.choose(device: id)
        #expect(flow.choose(device: Samples.device).isEmpty)
        #expect(flow.choose(addresses: ["192.0.2.1:5"]).isEmpty)
        #expect(flow.answer("", matches: true).isEmpty)
    }
}
