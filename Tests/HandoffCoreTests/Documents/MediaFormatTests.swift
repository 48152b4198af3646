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
            ("a.cue", "FILE"),
        ])
    func list(_ name: String, _ content: String) {
        #expect(MediaFormat.isList(name: name, Array(content.utf8)))
    }

    @Test(
        "what is read otherwise is none",
        arguments: [
            ("A letter.txt", "Dear m3u"), ("page.html", "<html>"),
            ("feed.xml", "<?xml version=\"1.0\"?><rss>"),
            ("A film.mkv", "\u{1A}E"), ("m3u", "x"),
        ])
    func noList(_ name: String, _ content: String) {
        #expect(!MediaFormat.isList(name: name, Array(content.utf8)))
    }
}
