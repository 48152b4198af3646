// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Looks at files on threads of their own, and waits for none that does not answer.
@MainLoop
enum FileThread {
    private static var count = 0

    /// How many threads there may be at a time, whether or not anybody waits for them.
    private static let maximum = 8
    /// How long anybody waits.
    private static let patience = Duration.seconds(5)

    /// What `body` returns.
    /// - Throws: `ConnectionUnavailable` if a file system does not answer.
    static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async throws -> Result {
        let failure = HandoffFailure(
            .connectionUnavailable, "A file system does not answer. Try again when it does, or unmount it.")
        guard count < maximum else { throw failure }
        let awaited = Awaited<Result>()
        try BackgroundThread.start("editor files") {
            let result = body()
            MainLoop.start {
                count -= 1
                awaited.come(result)
            }
        }
        count += 1
        guard let result = await awaited.value(within: patience) else { throw failure }
        return result
    }
}
