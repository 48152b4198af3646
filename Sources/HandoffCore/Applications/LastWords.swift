// SPDX-License-Identifier: LGPL-2.1-or-later

/// The last line that a program has written to its standard error. It takes any amount of bytes, and keeps few.
package struct LastWords: Sendable {
    /// How many bytes of a line are kept.
    package static let maximumLength = 256

    /// The line that has not ended, as far as it is kept.
    private var current: [UInt8] = []
    private var last = ""

    /// Nothing has been written.
    package init() {}

    /// The last line that is not empty, ended or not, fit to be shown; empty if there was none.
    package var text: String {
        let current = Self.shown(current)
        return current.isEmpty ? last : current
    }

    /// The program has written `bytes`.
    /// - Parameter limit: how many lines are returned at most; of those that are left out, only the last counts.
    /// - Returns: the first lines that have ended with that, fit to be shown, without empty ones.
    package mutating func wrote(_ bytes: some Sequence<UInt8>, lines limit: Int = 0) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                if current.count < Self.maximumLength { current.append(byte) }
                continue
            }
            let line = Self.shown(current)
            current.removeAll(keepingCapacity: true)
            guard !line.isEmpty else { continue }
            last = line
            if lines.count < limit { lines.append(line) }
        }
        return lines
    }

    /// A line without white space at its ends. A character that was cut in two is left out.
    private static func shown(_ bytes: [UInt8]) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || 0x09...0x0D ~= $0 }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let end = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        var line = bytes[first...end]
        if bytes.count == maximumLength { line = line.withoutCutCharacter }
        return PeerText.clean(
            String(decoding: line, as: UTF8.self), limit: maximumLength, bytes: maximumLength)
    }
}

extension ArraySlice<UInt8> {
    /// Without the first bytes of a character of UTF-8 at the end, whose others are missing.
    fileprivate var withoutCutCharacter: ArraySlice<UInt8> {
        let tail = suffix(3).reversed().prefix { $0 & 0xC0 == 0x80 }.count
        guard let lead = dropLast(tail).last, lead >= 0xC0 else { return self }
        let length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
        return tail + 1 < length ? dropLast(tail + 1) : self
    }
}
