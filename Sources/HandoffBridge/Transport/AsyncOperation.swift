// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import MainLoop

/// Makes the asynchronous functions of GIO those of Swift.
enum AsyncOperation {
    /// What GIO calls when an operation is complete; its `user_data` belongs to ``run(_:finish:)``.
    typealias Ready =
        @convention(c) (
            UnsafeMutablePointer<GObject>?, OpaquePointer?, UnsafeMutableRawPointer?
        ) -> Void

    /// Begins an operation, waits until it is complete and returns what `finish` makes of its result.
    ///
    /// Cancelling the task cancels the operation, which then fails with `G_IO_ERROR_CANCELLED`. Only for
    /// operations that GIO runs on the main loop: if one waits on a thread, GIO makes a descriptor for the
    /// cancellable, and ends the process if no descriptor is free.
    @MainLoop
    static func run<Result: Sendable>(
        _ begin: @MainLoop (UnsafeMutablePointer<GCancellable>?, Ready, UnsafeMutableRawPointer) -> Void,
        finish: @escaping @MainLoop (OpaquePointer?) throws -> Result
    ) async throws -> Result {
        let cancellable = g_cancellable_new().map { ObjectReference(owning: $0) }
        return try await run(
            { begin(cancellable?.raw, $0, $1) }, finish: finish,
            cancel: { g_cancellable_cancel(cancellable?.raw) })
    }

    /// Does the same for an operation that `cancel` makes fail soon.
    @MainLoop
    static func run<Result: Sendable>(
        _ begin: @MainLoop (Ready, UnsafeMutableRawPointer) -> Void,
        finish: @escaping @MainLoop (OpaquePointer?) throws -> Result, cancel: @escaping @Sendable () -> Void
    ) async throws -> Result {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let data = Callback.Once<OpaquePointer?>.pass { result in
                    continuation.resume(with: Swift.Result { try finish(result) })
                }
                begin({ _, result, data in Callback.Once.call(data, result) }, data)
            }
        } onCancel: {
            cancel()
        }
    }
}

/// Runs `operation` and cancels it when it has taken `limit`.
/// - Throws: what the operation throws; `TimeLimitExceeded` if it was cancelled because of the limit.
@MainLoop
func withTimeLimit<Result: Sendable>(
    _ limit: Duration, _ operation: @escaping @MainLoop @Sendable () async throws -> Result
) async throws -> Result {
    let task = MainLoop.start(operation)
    var isOver = false
    let timer = LoopSource.timer(after: limit) {
        isOver = true
        task.cancel()
    }
    defer { timer.cancel() }
    do {
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    } catch {
        throw isOver ? TimeLimitExceeded(limit: limit) : error
    }
}

/// An operation took longer than it was allowed to.
struct TimeLimitExceeded: Error, CustomStringConvertible {
    let limit: Duration

    var description: String { "nothing came within \(limit)" }
}
