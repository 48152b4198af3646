// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// That many seconds after the start, on both clocks.
private func at(_ seconds: Double) -> Moment {
    let microseconds = Int64(seconds * 1_000_000)
    return Moment(instant: Instant(microseconds: microseconds), wall: microseconds)
}

/// What the device that is called `name`'s first letter offers.
private func offer(
    _ name: String, title: String = "", since seconds: Double = 0, continuing: Bool = false
) -> ShownOffer {
    ShownOffer(
        path: "/\(name)", deviceID: "\(name.prefix(1))", title: title, since: at(seconds).wall,
        isContinuing: continuing)
}

@Suite("The question about all that is new")
struct NewOffersTests {
    /// One of an unlocked session in which nothing was offered when it began.
    private func always() -> Arrival {
        var arrival = Arrival()
        arrival.unlocked()
        _ = arrival.update([], .always, at: at(0))
        return arrival
    }

    @Test("is asked about one thing of a peer in ten seconds, the latest")
    func pace() {
        var arrival = always()
        #expect(arrival.update([offer("a1")], .always, at: at(1)) == [.show(offer("a1"))])
        #expect(arrival.update([offer("a2")], .always, at: at(2)) == [.withdraw])
        #expect(arrival.update([offer("a3")], .always, at: at(3)) == [])
        #expect(arrival.nextTime == at(11).instant)
        #expect(arrival.advance(to: at(10.9).instant) == [])
        #expect(arrival.advance(to: at(11).instant) == [.show(offer("a3"))])
        #expect(arrival.nextTime == nil)
        #expect(
            arrival.update([offer("a4")], .always, at: at(30)) == [.withdraw, .show(offer("a4"))])
    }

    @Test("changes with the offer once in ten seconds too")
    func changes() {
        var arrival = always()
        _ = arrival.update([offer("a1")], .always, at: at(1))
        #expect(arrival.update([offer("a1", title: "2")], .always, at: at(5)) == [])
        #expect(arrival.update([offer("a1", title: "3")], .always, at: at(10)) == [])
        #expect(arrival.advance(to: at(11).instant) == [.show(offer("a1", title: "3"))])
    }

    @Test("does not wait for the pace of another peer")
    func others() {
        var arrival = always()
        _ = arrival.update([offer("a1")], .always, at: at(1))
        #expect(arrival.update([offer("a2")], .always, at: at(2)) == [.withdraw])
        #expect(arrival.update([offer("a2"), offer("b1")], .always, at: at(3)) == [.show(offer("b1"))])
        #expect(arrival.advance(to: at(11).instant) == [.withdraw, .show(offer("a2"))])
    }

    @Test("is asked about each of several peers that come at once, as fast as it can be read")
    func together() {
        var arrival = always()
        let offers = [offer("a1", since: 1), offer("b1", since: 2)]
        #expect(arrival.update(offers, .always, at: at(3)) == [.show(offers[1])])
        #expect(arrival.advance(to: at(12.9).instant) == [])
        #expect(arrival.advance(to: at(13).instant) == [.withdraw, .show(offers[0])])
    }

    @Test("is not asked about what is gone, or is being continued, by the time that it is due")
    func gone() {
        for after in [[], [offer("a2", continuing: true)]] {
            var arrival = always()
            _ = arrival.update([offer("a1")], .always, at: at(1))
            _ = arrival.update([offer("a2")], .always, at: at(2))
            #expect(arrival.update(after, .always, at: at(3)) == [])
            #expect(arrival.nextTime == nil)
            #expect(arrival.advance(to: at(20).instant) == [])
        }
    }

    @Test("is asked about what comes back before anybody was asked about it")
    func back() {
        var arrival = always()
        _ = arrival.update([offer("a1")], .always, at: at(1))
        for second in stride(from: 2.0, to: 10, by: 2) {
            _ = arrival.update([offer("a2")], .always, at: at(second))
            _ = arrival.update([offer("a1")], .always, at: at(second + 1))
        }
        #expect(arrival.update([offer("a2")], .always, at: at(10.5)) == [])
        #expect(arrival.advance(to: at(11).instant) == [.show(offer("a2"))])
    }

    @Test("is forgotten when the session is locked, on an arrival, and if it is wanted no longer")
    func forgotten() {
        for end in 0..<3 {
            var arrival = always()
            _ = arrival.update([offer("a1")], .always, at: at(1))
            _ = arrival.update([offer("a2")], .always, at: at(2))
            switch end {
            case 0: #expect(arrival.locked() == [])
            case 1: #expect(arrival.arrived(hasJustWokenUp: false, at: at(3)) == [.show(offer("a2"))])
            default: #expect(arrival.update([offer("a2")], .arrival, at: at(3)) == [])
            }
            #expect(arrival.nextTime == nil)
            arrival.unlocked()
            #expect(arrival.advance(to: at(20).instant) == [])
        }
    }

    @Test(
        "whatever peers do: one in ten seconds for each, about what is there, and the last of each gets its turn",
        arguments: UInt64(1)...40)
    func anything(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var arrival = always()
        var offers: [String: ShownOffer] = [:]
        var last: [String: Double] = [:]
        var asked: Set<String> = []
        var isShown = false
        func see(_ actions: [Arrival.Action], _ now: Double) {
            for action in actions {
                switch action {
                case .withdraw:
                    #expect(isShown)
                    isShown = false
                case .show(let one):
                    #expect(offers[one.deviceID] == one && !one.isContinuing)
                    #expect(last[one.deviceID].map { now - $0 > 9.999 } ?? true)
                    last[one.deviceID] = now
                    asked.insert(one.path)
                    isShown = true
                }
            }
        }
        var now = 0.0
        for _ in 0..<600 {
            now += Double.random(in: 0...2, using: &generator)
            while let next = arrival.nextTime, next <= at(now).instant {
                see(arrival.advance(to: next), Double(next.microseconds) / 1_000_000)
            }
            let device = try generator.pick(["a", "b", "c"])
            // A device that takes turns between two, and makes up new ones.
            let name = "\(device)\(Int.random(in: 0...1, using: &generator))"
            offers[device] =
                generator.chance(20)
                ? nil
                : try offer(
                    generator.chance(50) ? name : "\(name)at\(now)", title: generator.pick(["x", "y"]),
                    since: now, continuing: generator.chance(10))
            see(arrival.update(Array(offers.values), .always, at: at(now)), now)
        }
        for (device, one) in offers {
            offers[device] = offer(String(one.path.dropFirst()) + "last", since: now)
        }
        see(arrival.update(Array(offers.values), .always, at: at(now)), now)
        while let next = arrival.nextTime, next <= at(now + 60).instant {
            see(arrival.advance(to: next), Double(next.microseconds) / 1_000_000)
        }
        #expect(asked.isSuperset(of: offers.values.map(\.path)))
    }
}
