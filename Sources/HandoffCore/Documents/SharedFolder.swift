// SPDX-License-Identifier: LGPL-2.1-or-later

/// A folder that is kept alike on several devices, for example by a sync client: its name, which is the same on all of
/// them, and where it is on this one.
package struct SharedFolder: Hashable, Sendable {
    /// What it is called on all devices.
    package let name: String
    /// Where it is on this one, as the system wants it: absolute, without a slash at the end.
    package let path: [UInt8]

    /// How many bytes a name may have.
    package static let maximumName = 255
    /// How many bytes a path may have (`PATH_MAX`, less the zero byte at the end).
    package static let maximumPath = 4095

    /// The folder at `path`, which may end with slashes.
    /// - Throws: `invalidArguments` if the name is none, or the path is not absolute, is that of the root of the file
    ///   system, or leads back to where it came from.
    package init(_ name: String, at path: [UInt8]) throws(HandoffFailure) {
        try Self.check(name)
        let isLong = path.count > Self.maximumPath
        var path = path[...]
        while path.count > 1, path.last == Self.slash { path.removeLast() }
        guard path.count > 1, Self.isAbsolute(path), !isLong else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.message(String(decoding: path, as: UTF8.self)))” cannot be the shared folder"
                    + " “\(PeerText.message(name))”. Give the absolute path of a folder other than /, without “.”,"
                    + " “..” and empty parts.")
        }
        self.name = name
        self.path = Array(path)
    }

    /// The folder at `path`, text that a person has written or will read.
    /// - Throws: the same, and if the text has control characters.
    package init(_ name: String, at path: String) throws(HandoffFailure) {
        guard !path.unicodeScalars.contains(where: PeerText.isControl) else {
            throw HandoffFailure(
                .invalidArguments,
                "The path of the shared folder “\(PeerText.message(name))” has control characters. Rename the folder."
            )
        }
        try self.init(name, at: Array(path.utf8))
    }

    private static func check(_ name: String) throws(HandoffFailure) {
        guard !name.isEmpty, name.utf8.count <= maximumName,
            !name.unicodeScalars.contains(where: PeerText.isControl)
        else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.message(name))” cannot be the name of a shared folder. Use 1 to \(maximumName) bytes"
                    + " without control characters.")
        }
    }

    // MARK: Paths

    static let slash = UInt8(ascii: "/")
    private static let (dot, dots) = (Array(".".utf8), Array("..".utf8))

    /// Whether `path` is absolute and names each folder on its way just once: nothing in it is empty, “.” or “..”. It may
    /// end with one slash.
    static func isAbsolute(_ path: ArraySlice<UInt8>) -> Bool {
        path.first == slash && (path.count == 1 || isRelative(path.dropFirst()))
    }

    /// Whether `path` goes on from a folder in the same way.
    static func isRelative(_ path: ArraySlice<UInt8>) -> Bool {
        guard !path.contains(0) else { return false }
        let parts = path.split(separator: slash, omittingEmptySubsequences: false)
        let named = parts.last?.isEmpty == true ? parts.dropLast() : parts[...]
        return !named.isEmpty && named.allSatisfy { !$0.isEmpty && $0 != dot[...] && $0 != dots[...] }
    }
}
