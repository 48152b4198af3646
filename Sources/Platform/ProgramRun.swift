// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// A program that was run until it ended.
package struct ProgramRun: Sendable {
    /// Whether it was started and has succeeded.
    package let hasSucceeded: Bool
    /// What it has written to its standard output, if that was wanted.
    package let output: String
    /// Why it could not be started; nil if it was.
    package let failure: String?

    /// Runs `words`, of which the first is looked for in `$PATH`, with the environment of this process. This blocks until it has
    /// ended.
    /// - Parameter keepsTerminal: whether standard input and output are those of this process; otherwise the input is empty, and
    ///   the output is kept.
    package init(_ words: [String], keepsTerminal: Bool) {
        let list = words.map { strdup($0) } + [nil]
        defer { for word in list { free(word) } }
        var arguments = list
        var output: UnsafeMutablePointer<CChar>?
        var status: Int32 = 0
        var error: UnsafeMutablePointer<GError>?
        let input = keepsTerminal ? G_SPAWN_CHILD_INHERITS_STDIN.rawValue : 0
        let flags = GSpawnFlags(G_SPAWN_SEARCH_PATH.rawValue | input)
        let hasRun =
            keepsTerminal
            ? g_spawn_sync(nil, &arguments, nil, flags, nil, nil, nil, nil, &status, &error)
            : g_spawn_sync(nil, &arguments, nil, flags, nil, nil, &output, nil, &status, &error)
        defer {
            g_free(output)
            g_clear_error(&error)
        }
        hasSucceeded = hasRun != 0 && status == 0
        self.output = output.map { String(cString: $0) } ?? ""
        failure = error.map { String(cString: $0.pointee.message) }
    }
}
