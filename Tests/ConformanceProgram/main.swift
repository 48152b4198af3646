// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import HandoffKit
import Platform

// An application that does what it is told, a line each, and tells what happens to it: the driver of HandoffKit for
// Tests/EndToEnd/test_conformance.py; see Tests/EndToEnd/conformance/README.md.
let driver = Driver(id: CommandLine.arguments[1], activityType: CommandLine.arguments[2])
try BackgroundThread.start("input") {
    var (buffer, rest) = ([UInt8](repeating: 0, count: 65536), [UInt8]())
    while true {
        let count = read(0, &buffer, buffer.count)
        guard count > 0 else { break }
        rest += buffer[..<count]
        let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Array(lines.last ?? [])
        let words = lines.dropLast().map { line in
            line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
        }
        // What has come together is done in one turn, as what an application does in one function is.
        Task { @MainActor in for line in words { driver.told(line) } }
    }
    Task { @MainActor in HandoffApplication.quit() }
}
HandoffApplication.run()
