// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Links in shared folders. Peers may be able to put them there, and would choose by them which of the user's other files
/// is handed over.
enum SharedLinks {
    /// Whether links lead `path`, as far as there is something, to elsewhere than `folder`. A link to nothing does. This
    /// blocks as long as the file system does.
    static func lead(_ path: [UInt8], outOf folder: [UInt8]) -> Bool {
        guard let top = realPath(of: folder) else { return false }
        var place = path[...]
        while place.count >= folder.count {
            if let real = realPath(of: Array(place)) {
                return real != top && top != [UInt8(ascii: "/")]
                    && !real.starts(with: top + [UInt8(ascii: "/")])
            }
            if isThere(Array(place)) { return true }
            guard let slash = place.lastIndex(of: UInt8(ascii: "/")) else { return true }
            place = place[..<slash]
        }
        return true
    }

    /// The path without any link; nil if there is nothing.
    private static func realPath(of path: [UInt8]) -> [UInt8]? {
        guard let real = realpath(text(path), nil) else { return nil }
        defer { free(real) }
        return real.withMemoryRebound(to: UInt8.self, capacity: 1) {
            Array(UnsafeBufferPointer(start: $0, count: strlen(real)))
        }
    }

    private static func isThere(_ path: [UInt8]) -> Bool {
        var status = stat()
        return lstat(text(path), &status) == 0
    }

    private static func text(_ path: [UInt8]) -> [CChar] { path.map { CChar(bitPattern: $0) } + [0] }
}
