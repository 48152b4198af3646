// SPDX-License-Identifier: LGPL-2.1-or-later

/// What this process was started with. Arguments are bytes and need not be text; in Swift's own list of them, whatever is
/// no text has become replacement characters.
package enum ProgramArguments {
    /// The bytes of the argument that was given as `text`, alone or behind `=`: the last one if there are several. If there
    /// is none, the bytes of `text`.
    package static func bytes(of text: String) -> [UInt8] { bytes(of: text, among: all) }

    /// The same for these arguments.
    static func bytes(of text: String, among arguments: [[UInt8]]) -> [UInt8] {
        let plain = Array(text.utf8)
        // Only then may something have been replaced.
        guard text.unicodeScalars.contains("\u{FFFD}") else { return plain }
        for argument in arguments.reversed() {
            if String(decoding: argument, as: UTF8.self) == text { return argument }
            guard let sign = argument.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let value = Array(argument[(sign + 1)...])
            if String(decoding: value, as: UTF8.self) == text { return value }
        }
        return plain
    }

    /// The bytes of the arguments that follow the first `--`; nil if there is none.
    package static var afterSeparator: [[UInt8]]? {
        all.firstIndex(of: Array("--".utf8)).map { Array(all[($0 + 1)...]) }
    }

    private static var all: [[UInt8]] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { argument in
                argument.withMemoryRebound(to: UInt8.self, capacity: 1) { start in
                    var count = 0
                    while start[count] != 0 { count += 1 }
                    return Array(UnsafeBufferPointer(start: start, count: count))
                }
            }
        }
    }
}
