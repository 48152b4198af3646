// SPDX-License-Identifier: LGPL-2.1-or-later

/// The name of a file that a document from a peer is kept under: one part of a path, which is not hidden, cannot be
/// mistaken for an option, does not steer a terminal, reads the same from left to right as it is written, and can be seen.
package struct DocumentName: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    package let description: String

    /// How many bytes a name may have on the file systems of Linux.
    package static let maximumBytes = 255
    /// Fewer than this are never asked for, so that a number and an extension always fit.
    private static let leastBytes = 64
    /// What a document is called whose own name has nothing left to show.
    private static let fallback = "Document"
    /// A longer ending is no extension, but part of the name.
    private static let maximumExtension = 32

    /// The name that comes nearest to `text`, which a peer has sent and may be anything.
    package init(_ text: String) {
        let safe = String(String.UnicodeScalarView(text.unicodeScalars.map { Self.isSafe($0) ? $0 : "_" }))
        var name = safe.unicodeScalars.dropLeading { $0 == "." || $0.properties.isWhitespace }
        name = name.dropTrailing { $0 == "." || $0.properties.isWhitespace }
        // Programs that are given the name alone would take it for an option.
        let text = name.first == "-" ? "_" + String(name.dropFirst()) : String(name)
        let (stem, ending) = Self.parts(of: text)
        if stem.unicodeScalars.contains(where: Self.isVisible) {
            description = text
        } else {
            description =
                Self.fallback
                + (ending.unicodeScalars.dropFirst().contains(where: Self.isVisible) ? ending : "")
        }
    }

    /// What the same document of `device` is called beside this one, `Letter (lap).txt` for `Letter.txt`.
    package func copy(from device: String) -> DocumentName {
        let (stem, ending) = Self.parts(of: description)
        let label = " (\(device.prefix(bytes: Self.leastBytes)))"
        return DocumentName(
            stem.prefix(bytes: Self.maximumBytes - 16 - label.utf8.count - ending.utf8.count) + label + ending
        )
    }

    /// Whether `fileName` is this name, or one with a number that stands for it.
    package func isName(of fileName: String) -> Bool {
        let (stem, ending) = Self.parts(of: description)
        guard fileName.hasPrefix(stem), fileName.hasSuffix(ending),
            fileName.utf8.count >= stem.utf8.count + ending.utf8.count
        else { return false }
        let middle = fileName.dropFirst(stem.count).dropLast(ending.count)
        if middle.isEmpty { return true }
        return middle.hasPrefix(" (") && middle.hasSuffix(")") && middle.count > 3
            && middle.dropFirst(2).dropLast().utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }

    /// The name for a file: the `number`th that would have this name, counting from 1, in at most `bytes` bytes. The
    /// extension stays, and no character is cut in two.
    package func fileName(_ number: Int = 1, bytes: Int = maximumBytes) -> String {
        let bytes = min(max(bytes, Self.leastBytes), Self.maximumBytes)
        let (stem, ending) = Self.parts(of: description)
        let suffix = (number > 1 ? " (\(number))" : "") + ending
        return stem.prefix(bytes: bytes - suffix.utf8.count) + suffix
    }

    /// `name` without its extension, and the extension with its dot, `.tar.gz` being one; empty if there is none.
    private static func parts(of name: String) -> (stem: String, ending: String) {
        guard let ending = ending(of: name[...]) else { return (name, "") }
        let stem = name[..<ending.startIndex]
        guard let inner = Self.ending(of: stem), inner.lowercased() == ".tar" else {
            return (String(stem), String(ending))
        }
        return (String(stem[..<inner.startIndex]), String(name[inner.startIndex...]))
    }

    /// The extension of `name` with its dot, if there is one with something in front of it.
    private static func ending(of name: Substring) -> Substring? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let ending = name[dot...]
        guard ending.utf8.count > 1, ending.utf8.count <= maximumExtension,
            !ending.unicodeScalars.contains(where: \.properties.isWhitespace)
        else { return nil }
        return ending
    }

    /// Whether there is anything to see of it: it is no space, none of the characters that programs are to leave out when
    /// they show text (such as those of no width), and not the empty pattern of Braille.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
            && scalar.properties.generalCategory != .format && scalar != "\u{2800}"
    }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "/" && !PeerText.isControl(scalar)
    }
}

extension String {
    /// As many whole characters from its beginning as fit into `bytes`; if not even one does, as much of that.
    fileprivate func prefix(bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var kept = ""
        for character in self {
            guard kept.utf8.count + String(character).utf8.count <= bytes else { break }
            kept.append(character)
        }
        guard kept.isEmpty else { return kept.withoutTrailingSpace }
        var scalars = UnicodeScalarView()
        var room = bytes
        for scalar in unicodeScalars {
            room -= UTF8.width(scalar)
            guard room >= 0 else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    private var withoutTrailingSpace: String {
        String(unicodeScalars[...].dropTrailing { $0 == "." || $0.properties.isWhitespace })
    }
}

extension BidirectionalCollection where Element == Unicode.Scalar {
    /// What is left without the scalars at its beginning that satisfy `predicate`.
    fileprivate func dropLeading(_ predicate: (Unicode.Scalar) -> Bool) -> SubSequence {
        self[(firstIndex { !predicate($0) } ?? endIndex)...]
    }

    /// What is left without the scalars at its end that satisfy `predicate`.
    fileprivate func dropTrailing(_ predicate: (Unicode.Scalar) -> Bool) -> SubSequence {
        guard let last = lastIndex(where: { !predicate($0) }) else { return self[startIndex..<startIndex] }
        return self[...last]
    }
}
