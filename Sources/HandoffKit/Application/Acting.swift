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

/// Applications of another bus than that of the session, for those who test them.
@MainActor
package final class BackendScope {
    private let make: @MainActor () -> BusBackend
    /// The application that was made last in it.
    weak var latest: HandoffApplication?

    @TaskLocal private static var present: BackendScope?

    /// A scope whose applications stand on what `make` makes.
    package init(_ make: @escaping @MainActor () -> BusBackend) { self.make = make }

    /// The scope in which the present task runs; nil for the session.
    static var current: BackendScope? { present }

    /// What an application stands on that is made now.
    static func makeBackend() -> BusBackend { present?.make() ?? BusBackend() }

    /// Runs `body` in this scope.
    package func run<Result>(_ body: @MainActor () throws -> Result) rethrows -> Result {
        try Self.$present.withValue(self) { try body() }
    }

    /// Runs `body` in this scope.
    package func run<Result>(_ body: @MainActor () async throws -> Result) async rethrows -> Result {
        try await Self.$present.withValue(self) { try await body() }
    }
}
