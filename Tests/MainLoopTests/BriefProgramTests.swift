// SPDX-License-Identifier: LGPL-2.1-or-later
import MainLoop
import Platform
import TestSupport
import Testing

@Suite("Running a program that ends soon")
struct BriefProgramTests {
    @MainLoop
    private func run(
        _ script: String, environment: [String] = [], maximumSize: Int = 4096,
        within time: Duration = .seconds(20)
    ) async throws -> BriefProgram.Outcome {
        let program = BriefProgram(
            ["/bin/sh", "-c", script], environment: environment, maximumSize: maximumSize)
        return try await program.run(within: time)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("what it prints and its status come back, and its environment is the given one and no more")
    func outcome() async throws {
        try await onLoop {
            let outcome = try await run(
                "echo $A; echo wrong >&2; cat; pwd; env | grep -v -e ^PWD= -e ^_= -e ^SHLVL=; exit 3",
                environment: ["A=b"])
            #expect(outcome.status == 3)
            #expect(text(outcome.output) == "b\n/\nA=b\n")
            #expect(text(outcome.complaints) == "wrong\n")
        }
    }

    @Test("one that takes too long is killed")
    func deadline() async throws {
        try await onLoop {
            let outcome = try await run("echo begun; exec sleep 1000", within: .milliseconds(300))
            #expect(outcome.status == nil)
            #expect(text(outcome.output) == "begun\n")
        }
    }

    @Test("one that prints too much is killed, and nothing more is kept", arguments: ["", " >&2"])
    func flood(redirection: String) async throws {
        try await onLoop {
            let outcome = try await run("exec yes\(redirection)", maximumSize: 10_000)
            #expect(outcome.status == nil)
            #expect(outcome.output.count + outcome.complaints.count <= 10_000 + 4096)
        }
    }

    @Test("what it leaves behind with its outputs open is not waited for")
    func leftovers() async throws {
        try await onLoop {
            let outcome = try await run("sleep 3 & echo done", within: .seconds(2))
            #expect(outcome.status == 0 && text(outcome.output) == "done\n")
        }
    }

    @Test("it can be ended at any time")
    func killing() async throws {
        try await onLoop {
            let program = BriefProgram(["/bin/sleep", "1000"], environment: [], maximumSize: 10)
            program.kill()
            let timer = LoopSource.timer(after: .milliseconds(200)) { program.kill() }
            defer { timer.cancel() }
            let outcome = try await program.run(within: .seconds(20))
            #expect(outcome.status == nil)
            program.kill()
        }
    }

    @Test("a program that is not there is an error")
    func missing() async throws {
        try await onLoop {
            let program = BriefProgram(["/nonexistent/program"], environment: [], maximumSize: 10)
            await #expect(throws: GLibError.self) { try await program.run(within: .seconds(1)) }
        }
    }
}
