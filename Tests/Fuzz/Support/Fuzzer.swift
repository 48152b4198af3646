// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CFuzzer
internal import CGio
internal import Glibc

/// The engine that makes up inputs, libFuzzer, with the arguments of the command line.
package enum Fuzzer {
    /// Set once, before the engine runs.
    nonisolated(unsafe) private static var test: ([UInt8]) -> Void = { _ in }

    /// Gives inputs to `test` until the command line's limits are reached.
    package static func run(_ test: @escaping ([UInt8]) -> Void) -> Never {
        Self.test = test
        // If GLib finds fault with its arguments, that is a finding too.
        g_log_set_always_fatal(
            GLogLevelFlags(rawValue: G_LOG_LEVEL_CRITICAL.rawValue | G_LOG_LEVEL_WARNING.rawValue))
        var (count, arguments) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { data, size in
                Fuzzer.test(Array(UnsafeBufferPointer(start: data, count: size)))
                return 0
            })
    }
}

/// Ends the process, which the engine takes for a finding, unless `condition` holds.
package func require(
    _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line
) {
    if !condition { fatalError(message(), file: file, line: line) }
}

/// What `body` returns. An error ends the process, which the engine takes for a finding.
package func require<Result>(
    _ what: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line,
    _ body: () throws -> Result
) -> Result {
    do { return try body() } catch { fatalError("\(what()): \(error)", file: file, line: line) }
}
