// SPDX-License-Identifier: LGPL-2.1-or-later

import DBus
import MediaAdapter
import Testing

@Suite("What a player says of itself")
struct PlayerReportTests {
    private func report(
        _ metadata: [String: Value], status: Value = .string("Playing"), seesFiles: Bool = true
    )
        -> PlayerReport
    {
        PlayerReport(["PlaybackStatus": status, "Metadata": .properties(metadata)], seesFiles: seesFiles)
    }

    @Test("what is of another type than it should be is not there")
    func wrongTypes() throws {
        let report = PlayerReport([
            "PlaybackStatus": .int32(1), "Metadata": .string("none"), "Position": .boolean(true),
        ])
        #expect(
            report.status == .stopped && report.address == nil && report.title.isEmpty && report.length == nil
        )
        let other = self.report([
            "xesam:url": .int64(4), "xesam:title": .strings(["a"]), "mpris:length": .string("long"),
            "mpris:trackid": .boolean(true), "xesam:artist": .int32(1),
        ])
        #expect(other == self.report([:]))
    }

    @Test("artists are a list or a text, and the object of the track an object path or a text")
    func bothTypes() {
        #expect(report(["xesam:artist": .string("Ann")]).artist == "Ann")
        #expect(report(["xesam:artist": .strings(["Ann", "Ben", "Cy", "Dan"])]).artist == "Ann, Ben, Cy")
        #expect(report(["mpris:trackid": .string("/1")]).track?.text == "/1")
        #expect(report(["mpris:trackid": .string("no path")]).track == nil)
        #expect(
            report(["mpris:trackid": .objectPath("/org/mpris/MediaPlayer2/TrackList/NoTrack")]).track == nil)
    }

    @Test("titles are cut, and nothing in them can steer a terminal")
    func titles() {
        let report = report([
            "xesam:title": .string(String(repeating: "a", count: 1 << 20)),
            "xesam:artist": .strings(Array(repeating: String(repeating: "b", count: 1 << 16), count: 100)),
        ])
        #expect(report.shownTitle.count == 256)
        #expect(self.report(["xesam:title": .string("a\u{1B}[2Jb")]).shownTitle == "a\u{FFFD}[2Jb")
        #expect(self.report(["xesam:url": .string("file:///a/Film.mkv")]).shownTitle == "Film.mkv")
    }

    @Test(
        "a time is a number of microseconds that something could take, of whichever type",
        arguments: [
            (Value.int64(5), 5), (.uint64(5), 5), (.int32(5), 5), (.uint32(5), 5), (.double(5.4), 5),
            (.variant(.int64(5)), 5),
            (.int64(0), 0), (.int64(-1), nil), (.int64(.max), nil), (.int64(.min), nil), (.uint64(.max), nil),
            (.double(.nan), nil),
            (.double(.infinity), nil), (.double(-1), nil), (.double(1e300), nil), (.string("5"), nil),
            (.boolean(true), nil),
            (.int64(3_600_000_000_000), 3_600_000_000_000), (.int64(3_600_000_000_001), nil),
        ] as [(Value, Int64?)])
    func times(_ value: Value, _ time: Int64?) {
        #expect(PlayerReport.time(value) == time)
    }

    @Test("a position behind the end is a lie")
    func positions() {
        let report = report(["mpris:length": .int64(100)])
        #expect(report.checked(position: 100) == 100)
        #expect(report.checked(position: 101) == nil)
        #expect(self.report(["mpris:length": .int64(-5)]).length == nil)
        #expect(self.report(["mpris:length": .int64(0)]).checked(position: 101) == 101)
    }

    @Test("who may not be able to read a file cannot name one")
    func sandboxed() {
        #expect(
            report(["xesam:url": .string("file:///home/me/.ssh/id_rsa")], seesFiles: false).address == nil)
        #expect(report(["xesam:url": .string("http://radio.example/")], seesFiles: false).address != nil)
    }
}
