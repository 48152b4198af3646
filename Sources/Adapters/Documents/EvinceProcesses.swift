// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import Platform

/// What the processes of Evince were started with. Evince says what it shows only once, when it has loaded it, so this is
/// all that there is to be known of windows that were there before. It is a guess, which Evince's daemon confirms or not.
enum EvinceProcesses {
    /// How many documents are found at most, and how long a command line may be.
    private static let (maximum, maximumLine) = (64, 16 << 10)

    /// The documents that processes called `program` were started with. This blocks as long as the system does.
    static func documents(of program: String) -> [ViewedPath] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [ViewedPath] = []
        while found.count < maximum, let name = FolderNames.next(in: folder) {
            guard name.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                link("/proc/\(name)/exe").hasSuffix("/\(program)")
            else { continue }
            found += documents(in: line("/proc/\(name)/cmdline"), folder: link("/proc/\(name)/cwd"))
        }
        return Array(found.prefix(maximum))
    }

    /// The files that a command line names whose words end with a zero, and that began in `folder`.
    static func documents(in line: [UInt8], folder: String) -> [ViewedPath] {
        line.split(separator: 0).dropFirst().compactMap { word in
            guard let word = String(validating: word, as: UTF8.self), !word.hasPrefix("-") else { return nil }
            if word.hasPrefix("/") { return ViewedPath(word) }
            return ViewedPath(url: word) ?? ViewedPath(folder + "/" + word)
        }
    }

    private static func link(_ path: String) -> String {
        var target = [UInt8](repeating: 0, count: 4096)
        let count = target.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink(path, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? 0
        }
        return count > 0 ? String(decoding: target[..<count], as: UTF8.self) : ""
    }

    private static func line(_ path: String) -> [UInt8] {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return [] }
        defer { close(number) }
        var bytes = [UInt8](repeating: 0, count: maximumLine)
        let count = read(number, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : []
    }
}
