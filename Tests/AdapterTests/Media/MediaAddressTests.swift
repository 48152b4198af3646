// SPDX-License-Identifier: LGPL-2.1-or-later

import MediaAdapter
import Testing

@Suite("What a player plays")
struct MediaAddressTests {
    @Test("a file is one by its absolute path, however it is written")
    func files() {
        #expect(
            MediaAddress("file:///home/me/A%20film.mkv")
                == MediaAddress("file://localhost/home/me/A film.mkv".replacing(" ", with: "%20")))
        #expect(MediaAddress("file:///a%2Db.ogg")?.argument == "/a-b.ogg")
        #expect(MediaAddress("file:///-x.ogg")?.argument == "/-x.ogg")
        #expect(MediaAddress("file:///a/b.ogg")?.name == "b.ogg")
    }

    @Test("a stream is http or https, and keeps its address")
    func streams() {
        #expect(
            MediaAddress("HTTPS://radio.example/live?x=1#t=2")?.url == "https://radio.example/live?x=1#t=2")
        #expect(MediaAddress("http://radio.example:8000/live")?.argument == "http://radio.example:8000/live")
        #expect(MediaAddress("http://radio.example/live")?.name == "radio.example")
    }

    @Test(
        "nothing else is an address",
        arguments: [
            "", "-", "--script=/tmp/x.lua", "+x", "/home/me/film.mkv", "film.mkv", "edl://a;b", "screen://",
            "av://x11grab:",
            "file://other.example/a.ogg", "file:///home/me/", "file:///a.ogg?x", "file:///a%0Ab.ogg",
            "file:///a%00b.ogg",
            "file:///%FF.ogg", "file:relative.ogg", "http://me:secret@radio.example/",
            "http://me@radio.example/",
            "http://radio.example\\@evil.example/", "http:///live", "http://", "https:radio.example",
            "ftp://x/y",
            "http://radio.example/a b", "http://radio.example/a\nb", "javascript:alert(1)",
            "data:audio/ogg;base64,AA==",
            "dvd://1", "memory://x", "fd://0", "file:///\u{202E}gpj.exe", "http://radio.example/\u{85}",
        ])
    func others(_ text: String) {
        #expect(MediaAddress(text) == nil)
    }

    @Test("an address that is longer than any is none")
    func length() {
        let path = String(repeating: "a", count: 4096 - "http://a/".count)
        #expect(MediaAddress("http://a/" + path) != nil)
        #expect(MediaAddress("http://a/a" + path) == nil)
    }
}
