// SPDX-License-Identifier: LGPL-2.1-or-later

/// An adapter as a program of its own: `handoff-NAME`, or `handoff-adapter NAME`.
package struct AdapterProgram: Sendable {
    /// What `DisabledAdapters` calls it.
    package let name: String
    /// Runs it with these arguments, the program's name first, and returns its exit status.
    let run: @Sendable ([String]) -> Int32

    /// The program `handoff-NAME`; `run` gets the arguments, the program's name first, and returns the exit status.
    package init(_ name: String, run: @escaping @Sendable ([String]) -> Int32) {
        (self.name, self.run) = (name, run)
    }
}
