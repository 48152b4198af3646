// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// The address of what an application is to open.
enum OpenedURL {
    /// What `url` leads to: a web page, or a file of this machine. Neither an address nor a path can be taken for an
    /// option of a program, since one begins with its scheme and the other with a slash.
    /// - Throws: `invalidURL` if it is neither.
    static func check(_ url: String) throws(HandoffFailure) -> ExecLine.Opened {
        guard !url.unicodeScalars.contains(where: { PeerText.isControl($0) || $0 == " " }) else {
            throw refusal(url)
        }
        if url.hasPrefix("https://") || url.hasPrefix("http://") { return .page(url) }
        guard url.hasPrefix("file:///"), let bytes = decode(url.dropFirst("file://".count).utf8) else {
            throw refusal(url)
        }
        return .file(url: url, path: String(validating: bytes, as: UTF8.self))
    }

    private static func refusal(_ url: String) -> HandoffFailure {
        HandoffFailure(
            .invalidURL,
            "\(PeerText.message(url)) is neither a web page nor a file of this machine, and is not opened.")
    }

    /// The bytes that a part of an address stands for; nil if one is not legal in a path.
    private static func decode(_ text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                // These begin what is not part of the path.
                guard byte != UInt8(ascii: "?"), byte != UInt8(ascii: "#") else { return nil }
                bytes.append(byte)
                continue
            }
            let digits = String(Substring(rest.prefix(2)))
            rest = rest.dropFirst(2)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16), value != 0,
                digits.first != "+"
            else { return nil }
            bytes.append(value)
        }
        return bytes
    }
}
