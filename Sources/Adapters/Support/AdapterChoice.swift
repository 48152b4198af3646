// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// Which of several adapters a process is to be.
package enum AdapterChoice {
    /// Runs the one that the program is called by, `handoff-NAME`, or else the one that the first argument names.
    /// - Returns: its exit status; 2 if none is named.
    package static func run(_ adapters: [any AdapterProgram.Type]) -> Int32 {
        let words = CommandLine.arguments
        let called = words.first?.split(separator: "/").last.map(String.init) ?? ""
        for adapter in adapters where called == "handoff-\(adapter.name)" { return adapter.run(words) }
        for adapter in adapters where words.count > 1 && words[1] == adapter.name {
            return adapter.run(["handoff-\(adapter.name)"] + words.dropFirst(2))
        }
        let names = adapters.map(\.name).joined(separator: ", ")
        adapterLog.warning("Call it handoff-NAME, or give it a NAME first. The names are: \(names).")
        return 2
    }
}
