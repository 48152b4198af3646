// SPDX-License-Identifier: LGPL-2.1-or-later
// How much goes through a stream of HandoffKit in a second, beside what goes through its socket alone, which
// meson-helpers/bench runs: stream-rate BLOCKS MEBIBYTES.
//
// It writes "kit RATIO KIT RAW", the last two in MB/s, each the median of the blocks'.
import Glibc

/// Ends the program with a message.
func fail(_ message: String, _ status: CInt) -> Never {
    let line = message + "\n"
    write(STDERR_FILENO, line, line.utf8.count)
    exit(status)
}

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard arguments.count == 2, CommandLine.arguments.count == 3, arguments.allSatisfy({ 1...65536 ~= $0 }) else {
    fail("Usage: stream-rate BLOCKS MEBIBYTES", 2)
}
do {
    let figures = try await Comparison(size: arguments[1] << 20).figures(blocks: arguments[0])
    print(figures)
} catch {
    fail("stream-rate: \(error)", 1)
}
