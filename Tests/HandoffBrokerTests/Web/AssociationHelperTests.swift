// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import HandoffCore
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("The program that asks sites")
struct AssociationHelperTests {
    private let folder: TemporaryDirectory
    private let host: WebHost

    init() throws {
        folder = try TemporaryDirectory()
        host = try #require(WebHost("www.example.com"))
    }

    /// The answer when the program is this shell script.
    private func answer(_ script: String) async throws -> SiteAnswer {
        let text = try folder.write("#!/bin/sh\n\(script)\n", to: "text")
        #expect(chmod(text, 0o755) == 0)
        let (host, path) = (host, folder.path("program"))
        return try await onLoop {
            // A file that this process has open for writing cannot be run, nor while a child that another test has just
            // made still has it open.
            let end = try await ChildProcess(["cp", text, path]).finished()
            #expect(end == .exited(0))
            return await AssociationHelper(path).ask(host)
        }
    }

    @Test("it is called with the host, and what it prints is the answer")
    func answers() async throws {
        #expect(
            try await answer("echo handoff-associations 1 approved; echo T.$1")
                == .approved(["T.www.example.com"]))
        #expect(try await answer("echo handoff-associations 1 none; echo why >&2") == .nothing)
    }

    @Test(
        "whatever else it does, the site could not be asked",
        arguments: [
            "", "echo handoff-associations 1 approved; exit 1",
            "echo handoff-associations 1 approved; echo '?'",
            "echo handoff-associations 1 approved; kill -9 $$", "yes", "yes >&2", "exit 77",
        ])
    func failures(script: String) async throws {
        #expect(try await answer(script) == .failed)
    }

    @Test("it finds nothing of the session in its environment")
    func environment() async throws {
        let names = "DBUS_SESSION_BUS_ADDRESS=disabled:"
        #expect(
            try await answer(
                "env | grep -q -e '^XDG_' -e '^PATH=/' && exit 1; env | grep -qx \(names) || exit 1;"
                    + " echo handoff-associations 1 none") == .nothing)
    }

    @Test("without the program no site can be asked")
    func missing() async throws {
        let host = host
        #expect(try await onLoop { await AssociationHelper("/nonexistent/program").ask(host) } == .failed)
    }
}
