// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import Platform

/// Words for a program that is to be run in a terminal. They go there by a file that only this user can read, because
/// terminals pass on command lines in different ways, some through a shell: on the command line stands the name of the
/// errand alone, which is a random number.
package enum Errand {
    private enum Noun: Identified { static let noun = "errand" }

    /// The most that the words may be together, in bytes.
    private static let maximumSize = 64 << 10

    private static func path(_ id: RandomID<Noun>) -> String {
        "\(UserDirectories.runtime)/handoff/errands/\(id)"
    }

    /// Leaves `words` for whoever takes them by the name that is returned. This may block.
    /// - Throws: if they are too long or hold a null character, or there is no room for them.
    package static func leave(_ words: [String]) throws -> String {
        var generator = SystemRandomNumberGenerator()
        let id = RandomID<Noun>(using: &generator)
        let bytes = Array(words.joined(separator: "\0").utf8)
        guard bytes.count <= maximumSize, !words.contains(where: { $0.utf8.contains(0) }) else {
            throw HandoffFailure(
                .invalidArguments, "What is to be run in a terminal is too long. Run it yourself.")
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
}
