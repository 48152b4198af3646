// SPDX-License-Identifier: LGPL-2.1-or-later

import DBus
import HandoffCore
import MediaAdapter
import Testing

@Suite("Which player's user is at it")
struct PlayersTests {
    private let one: BusName = ":1.1"
    private let other: BusName = ":1.2"
    private let mpv: ApplicationID

    init() throws { mpv = try ApplicationID("mpv") }

    private func report(_ status: String, _ url: String = "file:///a.ogg") -> PlayerReport {
        PlayerReport([
            "PlaybackStatus": .string(status), "Metadata": .properties(["xesam:url": .string(url)]),
        ])
    }

    private func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }

    @Test("the one that has begun last is shown, and when it ends the one before again")
    func latest() {
        var players = Players()
        #expect(players.says(report("Playing"), one, of: mpv, at: at(0)) == true)
        #expect(players.says(report("Playing"), other, of: mpv, at: at(1)) == true)
        #expect(players.shown?.name == other)
        #expect(players.says(report("Playing", "file:///b.ogg"), one, of: mpv, at: at(2)) == false)
        #expect(players.shown?.name == other)
        players.left(other, at: at(3))
        #expect(players.shown?.name == one)
        players.left(one, at: at(4))
        #expect(players.shown == nil && players.open.isEmpty && players.report(of: one) == nil)
    }

    @Test("what is paused stays for ten minutes, and gives way to what plays")
    func pausing() {
        var players = Players()
        _ = players.says(report("Playing"), one, of: mpv, at: at(0))
        _ = players.says(report("Paused"), one, of: mpv, at: at(10))
        #expect(players.shown?.name == one && players.nextDeadline == at(610))
        _ = players.says(report("Paused"), one, of: mpv, at: at(100))
        #expect(players.nextDeadline == at(610))
        players.advance(to: at(609))
        #expect(players.shown != nil)
        _ = players.says(report("Playing"), other, of: mpv, at: at(609))
        #expect(players.shown?.name == other && players.nextDeadline == nil)
        players.left(other, at: at(609))
        players.advance(to: at(610))
        #expect(players.shown == nil && players.nextDeadline == nil)
        #expect(players.says(report("Playing"), one, of: mpv, at: at(700)) == true)
        #expect(players.shown?.name == one)
    }

    @Test("what plays or is paused is open, however long ago, until it stops, ends, or goes on elsewhere")
    func open() {
        var players = Players()
        _ = players.says(report("Paused"), one, of: mpv, at: at(0))
        #expect(players.open.isEmpty)
        _ = players.says(report("Playing"), one, of: mpv, at: at(1))
        _ = players.says(report("Paused"), one, of: mpv, at: at(2))
        _ = players.says(report("Playing", "file:///b.ogg"), other, of: mpv, at: at(3))
        #expect(Set(players.open.map(\.name)) == [one, other] && players.shown?.name == other)
        players.left(other, at: at(4))
        players.advance(to: at(4000))
        #expect(players.shown == nil && players.open.map(\.name) == [one])
        _ = players.says(report("Playing", "edl://x"), one, of: mpv, at: at(4001))
        #expect(players.open.isEmpty)
        _ = players.says(report("Playing"), one, of: mpv, at: at(4002))
        #expect(players.open.map(\.report.address?.url) == ["file:///a.ogg"])
        players.handedOver(one, at: at(4003))
        #expect(players.open.isEmpty)
        _ = players.says(report("Paused"), one, of: mpv, at: at(4004))
        _ = players.says(report("Playing"), one, of: mpv, at: at(4005))
        _ = players.says(report("Stopped"), one, of: mpv, at: at(4006))
        #expect(players.open.isEmpty)
    }

    @Test("going on by itself is no beginning; playing again is")
    func beginnings() {
        var players = Players()
        #expect(players.says(report("Playing"), one, of: mpv, at: at(0)) == true)
        #expect(players.says(report("Playing", "file:///b.ogg"), one, of: mpv, at: at(1)) == false)
        #expect(players.shown?.report.address?.url == "file:///b.ogg")
        _ = players.says(report("Paused"), one, of: mpv, at: at(2))
        #expect(players.says(report("Playing"), one, of: mpv, at: at(3)) == true)
    }

    @Test("a player that is found paused is not shown until it plays")
    func foundPaused() {
        var players = Players()
        #expect(players.says(report("Paused"), one, of: mpv, at: at(0)) == false)
        #expect(players.shown == nil)
        #expect(players.says(report("Playing"), one, of: mpv, at: at(1)) == true)
    }

    @Test("one that says that it plays before it says what begins when it has said what")
    func lateAddress() {
        var players = Players()
        #expect(players.says(report("Playing", "edl://x"), one, of: mpv, at: at(0)) == false)
        #expect(players.shown == nil)
        #expect(players.says(report("Playing"), one, of: mpv, at: at(1)) == true)
    }

    @Test("what goes on elsewhere is over at once, whether or not it pauses, until it is played again")
    func handedOver() {
        var players = Players()
        _ = players.says(report("Playing"), one, of: mpv, at: at(0))
        players.handedOver(one, at: at(1))
        #expect(players.shown == nil)
        #expect(players.says(report("Playing"), one, of: mpv, at: at(2)) == false)
        #expect(players.shown == nil)
        _ = players.says(report("Paused"), one, of: mpv, at: at(3))
        #expect(players.shown == nil)
        #expect(players.says(report("Playing"), one, of: mpv, at: at(4)) == true)
    }

    @Test("what is stopped shows nothing")
    func stopping() {
        var players = Players()
        _ = players.says(report("Playing"), one, of: mpv, at: at(0))
        _ = players.says(report("Stopped"), one, of: mpv, at: at(1))
        #expect(players.shown == nil)
    }

    @Test(
        "whatever players say, what is shown plays or was paused less than ten minutes ago, and has an address"
    )
    func property() {
        for seed in 0..<200 {
            var (players, state, now) = (Players(), UInt64(seed) &* 2_654_435_761 &+ 1, Int64(0))
            func next(_ limit: UInt64) -> UInt64 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return (state >> 33) % limit
            }
            for _ in 0..<60 {
                now += Int64(next(200))
                let name = next(2) == 0 ? one : other
                switch next(8) {
                case 0: players.left(name, at: at(now))
                case 1: players.handedOver(name, at: at(now))
                case 2: players.advance(to: at(now))
                default:
                    let url = ["file:///a.ogg", "edl://", "http://radio.example/"][Int(next(3))]
                    let status = ["Playing", "Paused", "Stopped"][Int(next(3))]
                    let begins = players.says(report(status, url), name, of: mpv, at: at(now))
                    #expect(!begins || players.shown?.name == name)
                }
                players.advance(to: at(now))
                guard let shown = players.shown else { continue }
                #expect(shown.report.address != nil && shown.report.status != .stopped)
                #expect(shown.report.status == .playing || players.nextDeadline.map { $0 > at(now) } == true)
            }
        }
    }
}
