// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// Which of several adapters a process is to be.
package enum AdapterChoice {
    /// Runs the one that the program is called by, `handoff-NAME`, or else the one that the first argument names.
    /// With `--session` instead of a name it starts those that are needed, where nothing else does.
    /// - Parameter words: the command line, the program's name first.
    /// - Returns: its exit status; 2 if none is named.
    package static func run(
        _ adapters: [AdapterProgram], _ words: [String] = CommandLine.arguments
    ) -> Int32 {
        let called = words.first?.split(separator: "/").last.map(String.init) ?? ""
        if let adapter = adapters.first(where: { called == "handoff-\($0.name)" }) {
            return adapter.run(words)
        }
        let rest = words.dropFirst()
        if let adapter = adapters.first(where: { $0.name == rest.first }) {
            return adapter.run(["handoff-\(adapter.name)"] + rest.dropFirst())
        }
        if Array(rest) == ["--session"] { return AdapterSession.run() }
        let names = adapters.map(\.name).joined(separator: ", ")
        adapterLog.warning("Call it handoff-NAME, or give it a NAME first. The names are: \(names).")
        return 2
    }
}
