// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import Glibc
internal import HandoffCore
internal import Platform

/// A file that a player names, or is to be given. Looking at it blocks as long as the file system does.
struct MediaFile: Sendable {
    /// Where it really is; nil if it is not there.
    let realPath: String?
    /// Whether it may go to another device: it holds sound or moving pictures, and neither its name nor what that leads to may
    /// hold secrets.
    let mayGoOn: Bool

    /// Looks at the file at `path`.
    init(_ path: String) {
        realPath = Self.realPath(path)
        let isPrivate = PrivateFiles.isPrivate(path) || realPath.map(PrivateFiles.isPrivate) ?? true
        mayGoOn = !isPrivate && Self.holdsMedia(path)
    }

    /// Where the file or folder at `path` really is; nil if there is none.
    static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Where the folder at `path` really is, or will be when it is made.
    static func realPlace(_ path: String) -> String {
        var (parent, rest) = (path, "")
        while !parent.isEmpty {
            if let real = realPath(parent) { return (real == "/" ? "" : real) + rest }
            let end = parent.lastIndex(of: "/") ?? parent.startIndex
            rest = parent[end...] + rest
            parent = String(parent[..<end])
        }
        return path
    }

    /// Whether the file at `path` holds sound or moving pictures, and is no list that leads to other files.
    static func holdsMedia(_ path: String) -> Bool {
        guard let head = try? FileHead(of: path, count: MediaFormat.head) else { return false }
        return MediaFormat.isMedia(head.bytes) && !MediaFormat.isList(name: head.name, head.bytes)
    }
}
