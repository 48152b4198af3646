// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// What a test waited for in vain.
package struct TimedOut: Error, CustomStringConvertible {
    /// What it was, and where.
    package let description: String

    package init(description: String) { self.description = description }
}

/// Waits until `condition` holds, which is asked again and again on a timer of the main loop.
/// - Throws: ``TimedOut``, naming the place, if that is not so in time: the default is more than anything takes that is not broken,
///   beside other builds and tests too, and ends before the time limit of suites does.
@MainLoop
package func eventually(
    timeout: Duration = .seconds(45), file: StaticString = #fileID, line: UInt = #line,
    _ condition: @MainLoop () throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + timeout
    var pause = Duration.milliseconds(1)
    while try !condition() {
        guard clock.now < deadline else {
            throw TimedOut(description: "\(file):\(line): what was waited for has not come after \(timeout)")
        }
        try await MainLoop.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(20))
    }
}

/// Something that a test waits for: set once, from anywhere on the main loop.
@MainLoop
package final class Promise<Value: Sendable> {
    /// The value, nil until it is set.
    package private(set) var value: Value?

    /// A promise that is not kept yet.
    package init() {}

    /// Keeps the first value.
    package func keep(_ value: Value) { if self.value == nil { self.value = value } }

    /// Waits for the value.
    package func get(
        timeout: Duration = .seconds(45), file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Value {
        try await eventually(timeout: timeout, file: file, line: line) { value != nil }
        guard let value else { throw TimedOut(description: "\(file):\(line): no value") }
        return value
    }
}

/// Waits on the main loop for a while, for tests that something does *not* happen: long enough for it to happen if it were
/// wrong, on a quiet machine. On a busy one such a test sees less, and does not fail for it.
@MainLoop
package func letPass(_ time: Duration) async throws { try await MainLoop.sleep(for: time) }
