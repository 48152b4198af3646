// SPDX-License-Identifier: LGPL-2.1-or-later

import DBus
import HandoffCore
import MediaAdapter
import Testing

@Suite("What another device's player plays")
struct HandedMediaTests {
    private let file: [String: Value] = ["DocumentURL": .string("file:///home/me/Handoff/Film.mkv")]

    @Test("what is shown on one device is understood on the other")
    func roundTrip() throws {
        let report = PlayerReport([
            "PlaybackStatus": .string("Paused"),
            "Metadata": .properties([
                "xesam:url": .string("https://radio.example/a"), "xesam:title": .string("Song"),
                "xesam:artist": .string("Ann"),
            ]),
        ])
        let properties = HandedMedia.properties(of: report, try ApplicationID("vlc"), position: 1_234_567)
        #expect(properties["Title"] == .string("Song – Ann"))
        let media = try HandedMedia(properties, properties["UserInfo"]?.properties ?? [:])
        #expect(media.address == MediaAddress("https://radio.example/a"))
        #expect(media.application == (try ApplicationID("vlc")))
        #expect(media.position == 1_234_567 && !media.isPlaying)
    }

    @Test("only a delivered file and a page of the web are played")
    func addresses() throws {
        #expect(try HandedMedia(file, [:]).address == MediaAddress("file:///home/me/Handoff/Film.mkv"))
        for properties in [
            [:], ["WebpageURL": .string("file:///etc/passwd")],
            ["DocumentURL": .string("http://radio.example/")],
            ["DocumentURL": .string("edl://x")], ["WebpageURL": .string("http://a:b@radio.example/")],
            ["DocumentURL": .string("edl://x"), "WebpageURL": .string("http://radio.example/")],
        ] as [[String: Value]] {
            #expect(throws: HandoffFailure.self) { try HandedMedia(properties, [:]) }
        }
    }

    @Test(
        "a position or an application that cannot be is none",
        arguments: [.int64(-1), .double(.nan), .int64(.max), .string("5"), .properties([:])] as [Value])
    func nonsense(_ value: Value) throws {
        let media = try HandedMedia(
            file, ["Position": value, "ApplicationId": value, "Playing": value])
        #expect(media.position == nil && media.isPlaying)
        #expect(try HandedMedia(file, ["ApplicationId": .string("../../evil")]).application == nil)
    }

    @Test("what programs are given cannot be an option, and begins where it should")
    func arguments() throws {
        let media = try HandedMedia(
            ["DocumentURL": .string("file:///%2D-script=x")],
            ["Position": .int64(62_045_999), "Playing": .boolean(false)])
        let mpv = try #require(KnownPlayer.find(try ApplicationID("mpv")))
        #expect(
            mpv.arguments(for: media) == [
                "mpv", "--pause", "--player-operation-mode=pseudo-gui", "--{", "--start=62.045",
                "/--script=x", "--}",
            ])
        let vlc = try #require(KnownPlayer.find(try ApplicationID("vlc")))
        #expect(vlc.arguments(for: media) == ["vlc", "--start-paused", "/--script=x", ":start-time=62.045"])
        for player in KnownPlayer.all {
            let given = player.arguments(for: try HandedMedia(file, [:]))
            #expect(
                given.contains("/home/me/Handoff/Film.mkv") != player.isToldLater
                    && given.first == player.program)
        }
        #expect(KnownPlayer.seconds(0) == "0.000" && KnownPlayer.seconds(9_007_999) == "9.007")
    }
}
