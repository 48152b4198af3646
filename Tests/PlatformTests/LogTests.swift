// SPDX-License-Identifier: LGPL-2.1-or-later
import Platform
import TestSupport
import Testing

@Suite("The log", .timeLimit(.minutes(1)))
struct LogTests {
    /// What a program that logs leaves on standard output and standard error.
    private func lines(_ mode: String, debug: String?) async throws -> (output: String, errors: String) {
        try await onLoop {
            let child = try ChildProcess(
                [program("MainLoopProgram"), mode], environment: ["G_MESSAGES_DEBUG": debug])
            #expect(try await child.finished() == .exited(0))
            return (child.output, child.errors)
        }
    }

    @Test("goes to standard error, without debug and info lines unless they are asked for")
    func standardError() async throws {
        let (output, errors) = try await lines("log", debug: nil)
        #expect(output.isEmpty)
        #expect(errors.contains("main-loop-program") && errors.contains("a message"))
        #expect(errors.contains("a warning"))
        #expect(!errors.contains("a debug line") && !errors.contains("an info line"))
    }

    @Test(
        "shows debug and info lines of a domain that is asked for", arguments: ["main-loop-program", "all"])
    func debug(_ domain: String) async throws {
        let (output, errors) = try await lines("log", debug: domain)
        #expect(output.isEmpty)
        #expect(errors.contains("a debug line") && errors.contains("an info line"))
    }

    @Test("shows no debug lines of another domain")
    func otherDomain() async throws {
        #expect(try await !lines("log", debug: "other").errors.contains("a debug line"))
    }

    @Test("shows debug lines once they are enabled, whatever was dropped before")
    func verbose() async throws {
        let errors = try await lines("verbose", debug: nil).errors
        #expect(!errors.contains("not yet shown"))
        #expect(errors.contains("a debug line"))
    }
}
