// SPDX-License-Identifier: LGPL-2.1-or-later

/// Files that hold sound or moving pictures, by how they begin, and lists that lead players to other files.
///
/// What a file is called proves nothing. A player opens whatever a list names, also files that their user has never looked
/// at, and says so: such a list must never come from another device, and nothing but sound and pictures goes to one.
package enum MediaFormat {
    /// How much of the beginning of a file is looked at, in bytes.
    package static let head = 4096

    private static let beginnings: [[UInt8]] =
        [
            "OggS", "fLaC", "ID3", "MThd", "wvpk", "MAC ", "TTA1", "MPCK", "MP+", "#!AMR", ".RMF", "caff",
            "DSD ",
            ".snd", "FLV", "Extended Module: ", "IMPM", "YUV4MPEG2",
        ].map { Array($0.utf8) } + [
            // Matroska and WebM, ASF, streams of MPEG.
            [0x1A, 0x45, 0xDF, 0xA3], [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], [0, 0, 1, 0xBA],
            [0, 0, 1, 0xB3],
        ]
    /// What stands behind the length of a file of these kinds.
    private static let chunks: [(kind: String, contents: [String])] = [
        ("RIFF", ["WAVE", "AVI ", "RMID"]), ("RF64", ["WAVE"]), ("FORM", ["AIFF", "AIFC"]),
    ]
    private static let boxes = ["ftyp", "moov", "mdat"]

    /// Whether a file that begins with `bytes` holds sound or moving pictures.
    package static func isMedia(_ bytes: [UInt8]) -> Bool {
        if beginnings.contains(where: bytes.starts) { return true }
        func text(at index: Int) -> String {
            bytes.count >= index + 4 ? String(decoding: bytes[index..<index + 4], as: UTF8.self) : ""
        }
        let kind = text(at: 0)
        return boxes.contains(text(at: 4))
            || chunks.contains { $0.kind == kind && $0.contents.contains(text(at: 8)) }
            || isFrameOfMPEG(bytes) || isTransportStream(bytes)
    }

    /// MP3 and AAC without anything before them. The mark of UTF-16 text looks like one of a kind that nobody uses.
    private static func isFrameOfMPEG(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 3, bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0, bytes[1] != 0xFE, bytes[1] != 0xFF
        else {
            return false
        }
        if bytes[1] & 0xF6 == 0xF0 { return true }
        return bytes[1] & 0x06 != 0 && bytes[1] & 0x18 != 0x08 && bytes[2] & 0xF0 != 0xF0
            && bytes[2] & 0x0C != 0x0C
    }

    private static func isTransportStream(_ bytes: [UInt8]) -> Bool {
        bytes.count > 4 * 188 && (0...4).allSatisfy { bytes[$0 * 188] == 0x47 }
    }

    /// Those of the Shared MIME-info Database, and what players know beside it.
    private static let endingsOfLists: Set = [
        "m3u", "m3u8", "m1u", "m4u", "mxu", "pls", "xspf", "asx", "wax", "wvx", "wmx", "wpl", "ram", "rpm",
        "smil",
        "smi", "sml", "kino", "gvp", "mrml", "mrl", "pla", "cue", "edl", "b4s", "zpl", "vlc", "qtl", "strm",
        "kpl",
        "mpcpl", "sdp", "mpd", "f4m",
    ]
    private static let beginningsOfLists = [
        "#extm3u", "[playlist]", "[reference]", "# mpv edl", "#mpv edl", "mplayer edl", "rtsptext", "smilext",
        "<asx", "<smil", "<playlist", "<?wpl", "<?smil", "<mpd", "mpv edl",
    ]
    private static let elementsOfLists = ["<playlist", "<asx", "<smil", "<mpd", "<?wpl"]

    /// Whether a file called `name` that begins with `bytes` is a list that names other files for players.
    package static func isList(name: String, _ bytes: [UInt8]) -> Bool {
        let ending = name.lastIndex(of: ".").map { name[$0...].dropFirst().lowercased() } ?? ""
        if endingsOfLists.contains(ending) { return true }
        let text = text(bytes)
        let start = text.drop { $0.isWhitespace }
        if beginningsOfLists.contains(where: start.hasPrefix) { return true }
        // In XML, something else may come first.
        guard start.hasPrefix("<?") || start.hasPrefix("<!") else { return false }
        if elementsOfLists.contains(where: start.contains) { return true }
        return bytes.count >= head && !hasElement(start)
    }

    /// The beginning of a text in lower case, in UTF-8 or, as far as it is ASCII, in UTF-16.
    private static func text(_ bytes: [UInt8]) -> String {
        let marks: [[UInt8]] = [[0xFF, 0xFE], [0xFE, 0xFF], [0x3C, 0], [0, 0x3C]]
        let isWide = marks.contains(where: bytes.starts)
        let content = bytes.prefix(head).drop { [0xEF, 0xBB, 0xBF, 0xFF, 0xFE].contains($0) }
        return String(decoding: isWide ? content.filter { $0 != 0 } : Array(content), as: UTF8.self)
            .lowercased()
    }

    /// Whether something other than comments, instructions and declarations is in `xml`.
    private static func hasElement(_ xml: Substring) -> Bool {
        var rest = xml
        while let open = rest.firstIndex(of: "<") {
            rest = rest[open...].dropFirst()
            let end: String
            if rest.hasPrefix("!--") {
                end = "-->"
            } else if rest.hasPrefix("?") {
                end = "?>"
            } else {
                end = ">"
            }
            guard end != ">" || rest.hasPrefix("!") else { return true }
            guard let close = rest.firstRange(of: end) else { return false }
            rest = rest[close.upperBound...]
        }
        return false
    }
}
