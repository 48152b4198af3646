// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Finds programs, and starts them.
package enum ProgramFiles {
    /// The absolute path of the program `name`, a path or a name to be looked for in `$PATH`; nil if there is none that
    /// may be executed.
    package static func find(_ name: String) -> String? {
        guard let path = g_find_program_in_path(name) else { return nil }
        defer { g_free(path) }
        let text = String(cString: path)
        return text.hasPrefix("/") ? text : nil
    }

    /// Whether there is a folder at `path`.
    package static func isFolder(_ path: String) -> Bool { g_file_test(path, G_FILE_TEST_IS_DIR) != 0 }

    /// Starts a program as a child of this process, in a session of its own: it gets no signal that is meant for this
    /// process, nor any descriptor but the standard ones, may have as many files open as this process could at first, and
    /// lives on when this process ends. It returns once the program runs. The child has to be reaped.
    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: what it is given, its own name first.
    ///   - environment: all of its environment.
    ///   - folder: the folder that it starts in.
    ///   - standardError: a descriptor, of which it gets a duplicate.
    /// - Returns: the id of the process.
    /// - Throws: if it cannot be executed.
    package static func spawn(
        _ path: String, _ arguments: [String], environment: [String: String], folder: String,
        standardError: Int32
    ) throws(GLibError) -> Int32 {
        var process: GPid = 0
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let flags = G_SPAWN_DO_NOT_REAP_CHILD.rawValue | G_SPAWN_FILE_AND_ARGV_ZERO.rawValue
        _ = try throwingGError { error in
            withStrings([path] + arguments) { words in
                withStrings(variables) { variables in
                    handoff_spawn(
                        folder, words, variables, GSpawnFlags(rawValue: flags), &process, -1, -1,
                        standardError, DescriptorLimit.original, false, error
                    )
                }
            }
        }
        return process
    }

    /// Calls `body` with `strings` as C has them: a list that ends with NULL.
    private static func withStrings<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() { (list + index).initialize(to: g_strdup(string)) }
        (list + strings.count).initialize(to: nil)
        defer {
            for index in strings.indices { g_free(list[index]) }
            list.deallocate()
        }
        return body(list)
    }
}
