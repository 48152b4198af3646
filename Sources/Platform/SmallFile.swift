// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Files that are read and written as a whole.
public enum SmallFile {
    /// The bytes of the file at `path`.
    /// - Returns: nil if there is none.
    /// - Throws: if it cannot be read, is not a regular file, is longer than `maximumSize` bytes, or is somewhere else that is
    ///   not there, such as on a disk that is not mounted.
    public static func read(_ path: String, maximumSize: Int) throws(KeyFileError) -> [UInt8]? {
        // Opened without blocking, since there may be a pipe at the path.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw failure("\(path) cannot be read") }
            try checkLink(path)
            return nil
        }
        defer { close(descriptor) }
        return try read(descriptor, path, maximumSize: maximumSize)
    }

    /// - Throws: if what is not there at `path`, or the folder that it would be in, is a link.
    private static func checkLink(_ path: String) throws(KeyFileError) {
        guard let folder = g_path_get_dirname(path) else { return }
        defer { g_free(folder) }
        for link in [path, String(cString: folder)] {
            var status = stat()
            guard lstat(link, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFLNK, stat(link, &status) != 0 {
                throw KeyFileError(
                    "\(link) is a link to something that is not there. Put that back, or remove the link.",
                    isDamage: false)
            }
        }
    }

    /// The bytes of an open file, which messages call `path`.
    /// - Throws: if it cannot be read, is not a regular file, or is longer than `maximumSize` bytes.
    public static func read(
        _ descriptor: Int32, _ path: String, maximumSize: Int
    ) throws(KeyFileError) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("\(path) cannot be read") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeyFileError("\(path) is not a regular file. Move it away.")
        }
        // Reading one byte more reveals a file that is too long, even one that grows while it is read.
        let bytes = try contents(of: descriptor, atMost: maximumSize + 1, path)
        guard bytes.count <= maximumSize else {
            throw KeyFileError(
                "\(path) is longer than \(maximumSize) bytes, which is more than it ever should be.")
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
                throw failure("\(path) cannot be read")
            }
        }
        return bytes
    }

    /// Writes `bytes` to `path`, for this user alone (0600), so that after a crash at any moment the file is
    /// as it was before or as it is now. The folder is made if it is missing (0700).
    public static func write(_ bytes: [UInt8], to path: String) throws(KeyFileError) {
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
                "\(path) cannot be written: \(error.message). Make room there, or let it be written, and try again.",
                isDamage: false)
        }
    }

    /// Where the file at `path` really is: a link that the user has put there stays, and leads to what is
    /// written.
    public static func target(of path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Makes the folder that `path` is in, and those above it, if they are missing (0700).
    public static func makeFolder(of path: String) throws(KeyFileError) {
        guard let folder = g_path_get_dirname(path) else { return }
        defer { g_free(folder) }
        guard g_mkdir_with_parents(folder, 0o700) == 0 else {
            throw failure("The folder \(String(cString: folder)) cannot be made")
        }
    }

    private static func failure(_ what: String) -> KeyFileError {
        let number = errno
        return KeyFileError(
            "\(what): \(SystemError.text(number)).", isDamage: false,
            isShortage: number == EMFILE || number == ENFILE)
    }
}
