// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// That many seconds after the start, on both clocks.
private func at(_ seconds: Double) -> Moment {
    let microseconds = Int64(seconds * 1_000_000)
    return Moment(instant: Instant(microseconds: microseconds), wall: microseconds)
}

private func offer(
    _ name: String, since seconds: Double = 0, title: String? = nil, invited: Bool = false,
    continuing: Bool = false
) -> ShownOffer {
    ShownOffer(
        path: "/\(name)", deviceID: "device-\(name)", title: title ?? name, since: at(seconds).wall,
        isInvited: invited, isContinuing: continuing)
}

@Suite("The question on arrival")
struct ArrivalTests {
    /// One of an unlocked session with these offers.
    private func here(_ offers: [ShownOffer] = [], _ setting: Arrival.Setting = .arrival) -> Arrival {
        var arrival = Arrival()
        arrival.unlocked()
        _ = arrival.update(offers, setting, at: at(0))
        return arrival
    }

    @Test("is not asked when nothing is offered, nor later")
    func none() {
        var arrival = here()
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(1)) == [])
        #expect(arrival.update([offer("a", since: 2)], .arrival, at: at(2)) == [])
    }

    @Test("is asked once, about the latest of what is offered")
    func once() {
        let offers = [offer("a", since: 1), offer("b", since: 3), offer("c", since: 2)]
        var arrival = here(offers)
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(4)) == [.show(offers[1])])
        #expect(arrival.update(offers + [offer("d", since: 5)], .arrival, at: at(5)) == [])
    }

    @Test("is asked in a new notification at each arrival, also if nobody has answered the former one")
    func again() {
        var arrival = here([offer("a")])
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(1)) == [.show(offer("a"))])
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(2)) == [.withdraw, .show(offer("a"))])
        var always = here([], .always)
        _ = always.update([offer("a")], .always, at: at(1))
        #expect(
            always.update([offer("a"), offer("b")], .always, at: at(2)) == [.withdraw, .show(offer("b"))])
    }

    @Test("is about what became current within half an hour")
    func recent() {
        var arrival = here([offer("a", since: 100)])
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(1901)) == [])
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(1900)) == [.show(offer("a", since: 100))])
    }

    @Test("is about what was used within half an hour, however long ago it became current")
    func used() {
        var writing = offer("a", since: 0)
        // 40 minutes of writing in one window.
        writing.lastUsed = at(2400).wall
        var arrival = here([writing, offer("b", since: 100)])
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(4201)) == [])
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(4200)) == [.show(writing)])
    }

    @Test("is not about what is being continued or was pushed here")
    func others() {
        var arrival = here([offer("a", continuing: true), offer("b", invited: true)])
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(1)) == [])
    }

    @Test(
        "is taken back when the offer ends, is continued or is not to be asked about, and nothing is asked then"
    )
    func withdrawn() {
        let after: [([ShownOffer], Arrival.Setting)] = [
            ([], .arrival), ([offer("b", since: 2)], .arrival), ([offer("a", continuing: true)], .arrival),
            ([offer("a")], .never),
        ]
        for (offers, setting) in after {
            var arrival = here([offer("a")])
            _ = arrival.arrived(hasJustWokenUp: false, at: at(1))
            #expect(arrival.update(offers, setting, at: at(2)) == [.withdraw])
            #expect(arrival.update(offers + [offer("c", since: 3)], setting, at: at(3)) == [])
            #expect(arrival.locked() == [])
        }
    }

    @Test("changes with the offer, but not faster than it can be read")
    func changed() {
        var arrival = here([offer("a")])
        _ = arrival.arrived(hasJustWokenUp: false, at: at(1))
        #expect(arrival.update([offer("a", title: "2")], .arrival, at: at(1.2)) == [])
        #expect(arrival.nextTime == at(2).instant)
        #expect(arrival.update([offer("a", title: "3")], .arrival, at: at(1.9)) == [])
        #expect(arrival.advance(to: at(2).instant) == [.show(offer("a", title: "3"))])
        #expect(arrival.nextTime == nil)
        #expect(
            arrival.update([offer("a", title: "4")], .arrival, at: at(9)) == [.show(offer("a", title: "4"))])
    }

    @Test("does not come back after the user has answered it or put it away")
    func closed() {
        var arrival = here([offer("a")])
        _ = arrival.arrived(hasJustWokenUp: false, at: at(1))
        arrival.closed()
        #expect(arrival.update([offer("a", title: "2")], .arrival, at: at(5)) == [])
        #expect(arrival.update([], .arrival, at: at(6)) == [])
    }

    @Test("is taken back when the session is locked, and is asked anew on the next arrival")
    func locked() {
        var arrival = here([offer("a")])
        _ = arrival.arrived(hasJustWokenUp: false, at: at(1))
        #expect(arrival.locked() == [.withdraw])
        #expect(arrival.update([offer("a"), offer("b", since: 2)], .always, at: at(2)) == [])
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(2)) == [])
        arrival.unlocked()
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(3)) == [.show(offer("b", since: 2))])
    }

    @Test("waits for links after waking up, but not for long")
    func waking() {
        var arrival = here()
        #expect(arrival.arrived(hasJustWokenUp: true, at: at(10)) == [])
        #expect(arrival.update([offer("a", since: 9)], .arrival, at: at(25)) == [.show(offer("a", since: 9))])
        #expect(arrival.update([offer("b", since: 25)], .arrival, at: at(25)) == [.withdraw])
        var late = here()
        _ = late.arrived(hasJustWokenUp: true, at: at(10))
        #expect(late.update([offer("a", since: 9)], .arrival, at: at(25.1)) == [])
    }

    @Test("is asked once it is known what is offered, if the user comes before that")
    func beginning() {
        var arrival = Arrival()
        arrival.unlocked()
        #expect(arrival.arrived(hasJustWokenUp: false, at: at(1)) == [])
        #expect(arrival.update([offer("a")], .arrival, at: at(2)) == [.show(offer("a"))])
        #expect(arrival.update([offer("a"), offer("b")], .arrival, at: at(3)) == [])
    }

    @Test("is asked whenever there is something new if the user wants that, once about each")
    func always() {
        var arrival = here([offer("a")], .always)
        #expect(arrival.update([offer("a"), offer("b")], .always, at: at(1)) == [.show(offer("b"))])
        #expect(arrival.update([offer("a")], .always, at: at(2)) == [.withdraw])
        #expect(arrival.update([offer("a"), offer("b")], .always, at: at(3)) == [])
        #expect(arrival.update([offer("c")], .always, at: at(4)) == [.show(offer("c"))])
    }

    @Test("is never asked if the user does not want it")
    func never() {
        var arrival = here([offer("a")], .never)
        #expect(arrival.arrived(hasJustWokenUp: true, at: at(1)) == [])
        #expect(arrival.update([offer("a"), offer("b")], .never, at: at(2)) == [])
    }

    @Test("is not asked in an hour of changing offers while the user is there", arguments: UInt64(1)...8)
    func hour(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var arrival = here()
        for second in 0..<3600 {
            let offers = try (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                try offer(
                    generator.pick(["a", "b", "c", "d\(second)"]), since: Double(second),
                    title: generator.pick(["x", "y"]), continuing: generator.chance(10))
            }
            #expect(arrival.update(offers, .arrival, at: at(Double(second))) == [])
            #expect(arrival.advance(to: at(Double(second) + 0.5).instant) == [])
        }
    }

    @Test(
        "whatever happens: one question for each arrival, none while locked, none about what is not there",
        arguments: UInt64(1)...40)
    func anything(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var arrival = here()
        var (offers, shown, isLocked, mayBegin): ([ShownOffer], ShownOffer?, Bool, Bool) = (
            [], nil, false, false
        )
        func see(_ actions: [Arrival.Action]) {
            for action in actions {
                switch action {
                case .withdraw:
                    #expect(shown != nil)
                    shown = nil
                case .show(let offer):
                    #expect(!isLocked && offers.contains(offer) && !offer.isContinuing)
                    #expect(shown?.path == offer.path || mayBegin)
                    if shown?.path != offer.path { mayBegin = false }
                    shown = offer
                }
            }
        }
        for step in 0..<400 {
            let now = at(Double(step) * 7)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                isLocked = true
                see(arrival.locked())
            case 1:
                isLocked = false
                arrival.unlocked()
            case 2:
                mayBegin = !isLocked
                see(arrival.arrived(hasJustWokenUp: generator.chance(50), at: now))
            case 3:
                arrival.closed()
                shown = nil
            case 4: see(arrival.advance(to: now.instant))
            default:
                offers = try (0..<Int.random(in: 0...2, using: &generator)).map { index in
                    try offer(
                        "\(index)\(generator.pick(["a", "b"]))", since: Double(step) * 7,
                        title: generator.pick(["x", "y"]), continuing: generator.chance(10))
                }
                see(arrival.update(offers, .arrival, at: now))
            }
            #expect(!isLocked || shown == nil)
            if let shown { #expect(offers.contains { $0.path == shown.path && !$0.isContinuing }) }
        }
    }
}
