// SPDX-License-Identifier: LGPL-2.1-or-later

/// On whose behalf code of an application runs. A process has one application, but the tests of applications have
/// several in one process: what one of them makes while it continues or saves something is its own.
enum Acting {
    @TaskLocal static var application: HandoffApplication?
}

extension HandoffApplication {
    /// Runs `body` on behalf of `application`.
    static func acting<Result>(
        _ application: HandoffApplication?, _ body: @MainActor () throws -> Result
    ) rethrows -> Result {
        try Acting.$application.withValue(application) { try body() }
    }

    /// Runs `body` on behalf of `application`.
    static func acting<Result>(
        _ application: HandoffApplication?, _ body: @MainActor () async throws -> Result
    ) async rethrows -> Result {
        try await Acting.$application.withValue(application) { try await body() }
    }

    /// Runs `body` as code of this application: it is ``shared`` there.
    package func perform<Result>(_ body: @MainActor () async throws -> Result) async rethrows -> Result {
        try await Self.acting(self, body)
    }
}

/// What applications stand on that are made now.
package enum BackendChoice {
    /// Makes it; nil for the broker of the session.
    @TaskLocal package static var other: (@MainActor @Sendable () -> any HandoffBackend)?

    @MainActor static func make() -> any HandoffBackend { other?() ?? BusBackend() }
}
