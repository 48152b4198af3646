// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Words for a program that is to be run in a terminal. They go there by a file that only this user can read, because
/// terminals pass on command lines in different ways, some through a shell: on the command line stands the name of the
/// errand alone, which is a random number.
package enum Errand {
    private enum Noun: Identified { static let noun = "errand" }

    /// The most that the words may be together, in bytes.
    private static let maximumSize = 64 << 10

    private static var folder: String { "\(UserDirectories.runtime)/handoff/errands" }

    private static func path(_ id: RandomID<Noun>) -> String { "\(folder)/\(id)" }

    /// Leaves `words` for whoever takes them by the name that is returned. This may block.
    /// - Throws: if they are too long or hold a null character, or there is no room for them.
    package static func leave(_ words: [String]) throws -> String {
        var generator = UnpredictableNumbers()
        let id = RandomID<Noun>(using: &generator)
        let bytes = Array(words.joined(separator: "\0").utf8)
        guard bytes.count <= maximumSize, !words.contains(where: { $0.utf8.contains(0) }) else {
            throw HandoffFailure(
                .invalidArguments, tr("The command to be run in a terminal is too long. Run it yourself."))
        }
        try SmallFile.write(bytes, to: path(id))
        return id.description
    }

    /// Takes the words of the errand `name`, once; nil if there is none of that name. This may block.
    package static func take(_ name: String) -> [String]? {
        guard let id = RandomID<Noun>(name) else { return nil }
        defer { unlink(path(id)) }
        guard let bytes = try? SmallFile.read(path(id), maximumSize: maximumSize),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return text.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
    }

    /// Forgets the errand `name`, if nobody has taken it. This may block.
    package static func drop(_ name: String) {
        if let id = RandomID<Noun>(name) { unlink(path(id)) }
    }

    /// Whether nobody has taken the errand `name` yet. This may block.
    static func isThere(_ name: String) -> Bool {
        RandomID<Noun>(name).map { access(path($0), F_OK) == 0 } ?? false
    }

    /// What tells when one of the errands `names` is taken; nil if there is no descriptor left for that. This may block.
    static func watched(_ names: [String]) -> WatchedFolders? {
        WatchedFolders([], files: names.compactMap { RandomID<Noun>($0).map(path) })
    }

    /// Forgets the errands that were left more than `seconds` ago, by programs that have ended before they could. This may block.
    package static func sweep(olderThan seconds: Int64) {
        guard let directory = opendir(folder) else { return }
        defer { closedir(directory) }
        let now = Int64(time(nil))
        while let name = FolderNames.next(in: directory) {
            // One that was not written to its end has the name with something after it.
            guard RandomID<Noun>(String(name.prefix(32))) != nil else { continue }
            var status = stat()
            guard fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            // The clock may have been set back in the meantime.
            if abs(now - Int64(status.st_mtim.tv_sec)) > seconds { unlinkat(dirfd(directory), name, 0) }
        }
    }
}
