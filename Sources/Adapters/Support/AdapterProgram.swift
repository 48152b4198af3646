// SPDX-License-Identifier: LGPL-2.1-or-later

/// An adapter as a program of its own: `handoff-NAME`, or `handoff-adapter NAME`.
package protocol AdapterProgram {
    /// What `DisabledAdapters` calls it.
    static var name: String { get }
    /// Runs it with these arguments, the program's name first.
    /// - Returns: the exit status.
    static func run(_ arguments: [String]) -> Int32
}
