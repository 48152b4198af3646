// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// Runs `body` as one task on the main loop, which is started first if need be.
package func onLoop<Result: Sendable>(
    _ body: @escaping @MainLoop @Sendable () async throws -> Result
) async throws -> Result {
    LoopThread.start()
    return try await MainLoop.start {
        let ends = TestEnds()
        defer { ends.run() }
        return try await TestEnds.$current.withValue(ends) { try await body() }
    }.value
}

/// What is to be done once a test on the main loop is over, such as untying what keeps itself alive.
@MainLoop
package final class TestEnds {
    @TaskLocal fileprivate static var current: TestEnds?
    private var ends: [@MainLoop () -> Void] = []

    /// Has `end` called once the test that is under way is over.
    package static func add(_ end: @escaping @MainLoop () -> Void) { current?.ends.append(end) }

    fileprivate func run() { for end in ends { end() } }
}
