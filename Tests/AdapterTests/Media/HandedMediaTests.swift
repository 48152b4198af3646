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

    @Test(
        "what has an end, and where its player cannot seek, only that player can play; a station on the radio all can"
    )
    func bound() throws {
        func report(_ address: String, length: Int64?, canSeek: Bool?) -> PlayerReport {
            var metadata: [String: Value] = ["xesam:url": .string(address)]
            metadata["mpris:length"] = length.map { .int64($0) }
            var values: [String: Value] = [
                "PlaybackStatus": .string("Playing"), "Metadata": .properties(metadata),
            ]
            values["CanSeek"] = canSeek.map { .boolean($0) }
            return PlayerReport(values)
        }
        for (address, length, canSeek, isBound) in [
            ("https://music.example/track/1", 60_000_000, false, true),
            ("https://music.example/a", 60_000_000, true, false),
            ("https://radio.example/a", nil, false, false),
            ("https://music.example/a", 60_000_000, nil, false),
            ("file:///home/me/a.ogg", 60_000_000, false, false),
        ] as [(String, Int64?, Bool?, Bool)] {
            let report = report(address, length: length, canSeek: canSeek)
            #expect(report.isBound == isBound)
            let properties = HandedMedia.properties(of: report, try ApplicationID("vlc"), position: nil)
            let userInfo = properties["UserInfo"]?.properties ?? [:]
            #expect(userInfo[HandedMedia.Key.isBound] == (isBound ? .boolean(true) : nil))
            guard !address.hasPrefix("file") else { continue }
            #expect(try HandedMedia(properties, userInfo).isBound == isBound)
        }
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
