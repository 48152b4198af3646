// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("Sound, moving pictures, and lists of them")
struct MediaFormatTests {
    @Test(
        "what begins like sound or moving pictures is that",
        arguments: [
            Array("OggS\0".utf8), Array("fLaC".utf8), Array("ID3\u{3}".utf8), Array("RIFF....WAVEfmt ".utf8),
            Array("RIFF....AVI LIST".utf8), Array("....ftypisom".utf8), [0x1A, 0x45, 0xDF, 0xA3, 1],
            [0xFF, 0xFB, 0x90, 0x64], [0xFF, 0xF1, 0x50, 0x80], [0xFF, 0xF3, 0x40, 0xC0],
            (0..<1000).map { $0 % 188 == 0 ? 0x47 : 0 }, Array("FORM....AIFF".utf8),
        ] as [[UInt8]])
    func media(_ bytes: [UInt8]) { #expect(MediaFormat.isMedia(bytes)) }

    @Test(
        "keys, texts, lists, pictures and programs are not",
        arguments: [
            [], Array("-----BEGIN OPENSSH PRIVATE KEY-----".utf8), Array("#EXTM3U\n/etc/passwd".utf8),
            Array("Dear diary".utf8), [0xFF, 0xFE, 0x23, 0], [0x89, 0x50, 0x4E, 0x47],
            [0x7F, 0x45, 0x4C, 0x46],
            Array("RIFF....WEBP".utf8), Array("root:x:0:0".utf8), Array("%PDF-1.7".utf8), [0xFF],
            [0xFF, 0xFF, 0xFF, 0xFF],
            Array("GGGG".utf8), Array("PK\u{3}\u{4}".utf8),
        ] as [[UInt8]])
    func other(_ bytes: [UInt8]) { #expect(!MediaFormat.isMedia(bytes)) }

    @Test(
        "a list is one by its ending or by how it begins",
        arguments: [
            ("A film.m3u", ""), ("A film.M3U8", "x"), ("A film.mp3", "#EXTM3U\n/home/me/key"),
            ("A film.mkv", "\u{FEFF}\n [playlist]\nFile1=/a"),
            ("a", "<?xml version=\"1.0\"?>\n<playlist version=\"1\">"),
            ("a.wav", "# mpv EDL v0\n/etc/passwd"), ("a", "<ASX version=\"3.0\">"), ("a.edl", "0 1"),
            ("a.cue", "FILE"), ("a.m4u", ""), ("a.MXU", ""), ("a.m1u", ""), ("a.kino", ""), ("a.gvp", ""),
            ("a.mp4", "<!-- a --><smil>"),
            ("a.mp4", "<!-- a -->\n<!-- <b> -->\n<!DOCTYPE x [<!ENTITY a \"b\">]>\n<smil>"),
            ("a.mp4", "<?xml version=\"1.0\"?>" + String(repeating: " ", count: 2000) + "<smil>"),
            ("a.mp4", "<!--" + String(repeating: "a", count: 5000) + "--><smil>"),
            ("a.mp4", "<\0s\0m\0i\0l\0>\0"), ("a.mp4", "<?wpl version=\"1.0\"?><smil>"),
        ])
    func list(_ name: String, _ content: String) {
        #expect(MediaFormat.isList(name: name, Array(content.utf8)))
    }

    @Test(
        "what is read otherwise is none",
        arguments: [
            ("A letter.txt", "Dear m3u"), ("page.html", "<html>"),
            ("feed.xml", "<?xml version=\"1.0\"?><rss>"),
            ("page.html", "<!DOCTYPE html>\n<!-- a --><html>" + String(repeating: "a", count: 5000)),
            ("a.svg", "<?xml version=\"1.0\"?><!-- a --><!DOCTYPE svg [<!ENTITY a \"b\">]><svg>"),
            ("A film.mkv", "\u{1A}E"), ("m3u", "x"),
        ])
    func noList(_ name: String, _ content: String) {
        #expect(!MediaFormat.isList(name: name, Array(content.utf8)))
    }
}
