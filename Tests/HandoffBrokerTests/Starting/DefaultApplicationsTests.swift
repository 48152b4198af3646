// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffCore
import MainLoop
import Platform
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("What the user's desktop opens things with")
struct DefaultApplicationsTests {
    @Test("whoever waits for the browser waits for nothing else, though that hangs")
    func waitsForNothingElse() async throws {
        try await onLoop {
            let gate = DispatchSemaphore(value: 0)
            let hangs = Promise<Void>()
            let defaults = DefaultApplications { types in
                if types.contains("text/chosen-by-a-peer") {
                    MainLoop.start { hangs.keep(()) }
                    gate.wait()
                }
                return [:]
            } _: {
            }
            #expect(try await defaults.knownBrowser() == nil)
            _ = defaults.application(forDocumentsOf: "text/chosen-by-a-peer")
            try await hangs.get()
            let begin = MainLoop.now
            #expect(try await defaults.knownBrowser() == nil)
            #expect(MainLoop.now - begin < 1_000_000)
            gate.signal()
        }
    }

    @Test("whoever asks for the browser is answered once it is known, and others learn that it has changed")
    func known() async throws {
        try await onLoop {
            let changes = Promise<Void>()
            let browser = try ApplicationID("com.example.browser")
            let defaults = DefaultApplications { types in
                types.contains("x-scheme-handler/http") ? ["x-scheme-handler/http": browser] : [:]
            } _: {
                changes.keep(())
            }
            #expect(defaults.browser == nil)
            #expect(try await defaults.knownBrowser() == browser)
            try await changes.get()
            #expect(defaults.browser == browser)
        }
    }

    @Test(
        "that there was no thread for the look is no answer: it is made later, and whoever waits gets its answer"
    )
    func noThread() async throws {
        try await onLoop {
            let browser = try ApplicationID("com.example.browser")
            var failures = 1
            let defaults = DefaultApplications { types in
                types.contains("x-scheme-handler/http") ? ["x-scheme-handler/http": browser] : [:]
            } startingWith: { (name, body) throws(GLibError) in
                guard failures == 0 else {
                    failures -= 1
                    throw GLibError(taking: nil)
                }
                try BackgroundThread.start(name, body)
            } _: {
            }
            #expect(try await defaults.knownBrowser() == browser && failures == 0)
        }
    }

    @Test("nobody waits for ever for the browser when the file system does not answer, and is told why")
    func hanging() async throws {
        try await onLoop {
            let gate = DispatchSemaphore(value: 0)
            let defaults = DefaultApplications { _ in
                gate.wait()
                return [:]
            } _: {
            }
            let begin = MainLoop.now
            let error = await #expect(throws: HandoffFailure.self) { try await defaults.knownBrowser() }
            #expect(error?.code == .connectionUnavailable)
            #expect(error?.message.contains("file system does not answer") == true)
            #expect(MainLoop.now - begin < 15_000_000)
            gate.signal()
        }
    }
}
