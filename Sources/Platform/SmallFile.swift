// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Files that are read and written as a whole.
package enum SmallFile {
    /// The bytes of the file at `path`.
    /// - Returns: nil if there is none.
    /// - Throws: if it cannot be read, is not a regular file, or is longer than `maximumSize` bytes.
    package static func read(_ path: String, maximumSize: Int) throws(KeyFileError) -> [UInt8]? {
        // Opened without blocking, since there may be a pipe at the path.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw notReadable(path)
        }
        defer { close(descriptor) }
        return try read(descriptor, path, maximumSize: maximumSize)
    }

    /// The bytes of an open file, which messages call `path`.
    /// - Throws: if it cannot be read, is not a regular file, or is longer than `maximumSize` bytes.
    package static func read(
        _ descriptor: Int32, _ path: String, maximumSize: Int
    ) throws(KeyFileError) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw notReadable(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeyFileError(tr("{path} is not a regular file. Move it away.", ["path": path]))
        }
        // Reading one byte more reveals a file that is too long, even one that grows while it is read.
        let bytes = try contents(of: descriptor, atMost: maximumSize + 1, path)
        guard bytes.count <= maximumSize else {
            throw KeyFileError(
                tr(
                    "{path} is longer than {size} bytes, which is more than it ever should be.",
                    ["path": path, "size": "\(maximumSize)"]))
        }
        return bytes
    }

    private static func contents(
        of descriptor: Int32, atMost limit: Int, _ path: String
    ) throws(KeyFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit, 1 << 16))
        while bytes.count < limit {
            let count = Glibc.read(descriptor, &chunk, min(chunk.count, limit - bytes.count))
            if count == 0 { break }
            if count > 0 {
                bytes += chunk[..<count]
            } else if errno != EINTR {
                throw notReadable(path)
            }
        }
        return bytes
    }

    /// Writes `bytes` to `path`, for this user alone (0600), so that after a crash at any moment the file is
    /// as it was before or as it is now. The folder is made if it is missing (0700).
    package static func write(_ bytes: [UInt8], to path: String) throws(KeyFileError) {
        try makeFolder(of: path)
        let flags = GFileSetContentsFlags(
            rawValue: G_FILE_SET_CONTENTS_CONSISTENT.rawValue | G_FILE_SET_CONTENTS_DURABLE.rawValue)
        do throws(GLibError) {
            _ = try throwingGError { error in
                // An empty array may have no address; the zero after the end gives it one.
                (bytes + [0]).withUnsafeBytes {
                    let start = $0.baseAddress?.assumingMemoryBound(to: CChar.self)
                    return g_file_set_contents_full(path, start, gssize(bytes.count), flags, 0o600, error)
                }
            }
        } catch {
            throw KeyFileError(
                tr(
                    "{path} cannot be written: {reason}. Make room there, or let it be written, and try again.",
                    ["path": path, "reason": error.message]), isDamage: false)
        }
    }

    /// - Throws: if the way to `path`, where nothing is, leads over a link to something that is not there, such as a disk that is
    ///   not mounted: nobody knows then whether there is a file.
    package static func checkAbsence(of path: String) throws(KeyFileError) {
        var place = path
        var status = stat()
        while lstat(place, &status) != 0, let slash = place.lastIndex(of: "/"), slash > place.startIndex {
            place = String(place[..<slash])
        }
        guard status.st_mode & S_IFMT == S_IFLNK, stat(place, &status) != 0 else { return }
        throw KeyFileError(
            "\(place) is a link to something that is not there. Put that back, or remove the link.",
            isDamage: false)
    }

    /// Where the file at `path` really is: a link that the user has put there stays, and leads to what is
    /// written.
    package static func target(of path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Makes the folder that `path` is in, and those above it, if they are missing (0700).
    package static func makeFolder(of path: String) throws(KeyFileError) {
        guard let folder = g_path_get_dirname(path) else { return }
        defer { g_free(folder) }
        guard g_mkdir_with_parents(folder, 0o700) == 0 else {
            let number = errno
            throw failure(
                tr(
                    "The folder {folder} cannot be made: {reason}.",
                    ["folder": String(cString: folder), "reason": SystemError.text(number)]), number)
        }
    }

    private static func notReadable(_ path: String) -> KeyFileError {
        let number = errno
        return failure(
            tr("{path} cannot be read: {reason}.", ["path": path, "reason": SystemError.text(number)]), number
        )
    }

    private static func failure(_ text: String, _ number: Int32) -> KeyFileError {
        KeyFileError(text, isDamage: false, isShortage: number == EMFILE || number == ENFILE)
    }
}
