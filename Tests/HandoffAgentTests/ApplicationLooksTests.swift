// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop
import Synchronization
import TestSupport
import Testing

@testable import HandoffAgent

@Suite("How applications are shown")
struct ApplicationLooksTests {
    @Test("is read once, for all that ask, and remembered")
    func once() async throws {
        let reads = Mutex(0)
        try await onLoop {
            let looks = ApplicationLooks { _ in
                reads.withLock { $0 += 1 }
                return ApplicationLook(name: "Editor", icon: .named("editor"))
            }
            var names: [String] = []
            for _ in 0..<3 { looks.find(["a"]) { names.append($0?.name ?? "") } }
            try await eventually { names.count == 3 }
            looks.find(["a"]) { names.append($0?.name ?? "") }
            #expect(names == ["Editor", "Editor", "Editor", "Editor"])
        }
        #expect(reads.withLock { $0 } == 1)
    }

    @Test("nobody waits for a file system that does not answer")
    func hanging() async throws {
        try await onLoop {
            let looks = ApplicationLooks { _ in
                while true { pause() }
            }
            var answers = 0
            for index in 0..<10 {
                looks.find(["\(index)"]) { look in
                    #expect(look == nil)
                    answers += 1
                }
            }
            #expect(answers == 0)
            try await eventually(timeout: .seconds(5)) { answers == 10 }
        }
    }

    @Test("of any number that are asked for at once each is read, however many are not installed")
    func many() async throws {
        try await onLoop {
            let faces = InstalledFaces(
                ApplicationLooks {
                    $0 == ["15"] ? ApplicationLook(name: "Editor", icon: .named("editor")) : nil
                })
            var changes = 0
            faces.onChange = { changes += 1 }
            for index in 0..<16 { #expect(faces.face(of: "\(index)") == nil) }
            try await eventually { changes == 1 }
            #expect(faces.face(of: "15")?.name == "Editor")
        }
    }

    @Test("what takes longer than anybody waits is shown as soon as it is known")
    func late() async throws {
        let isReadable = Mutex(false)
        try await onLoop {
            let looks = ApplicationLooks { _ in
                while !isReadable.withLock({ $0 }) { usleep(1000) }
                return ApplicationLook(name: "Editor", icon: .named("editor"))
            }
            let faces = InstalledFaces(looks)
            var changes = 0
            faces.onChange = { changes += 1 }
            for _ in 0..<3 { #expect(faces.face(of: "a") == nil) }
            // Who can show nothing before waits in vain.
            var hasWaited = false
            looks.find(["a"]) { hasWaited = $0 == nil }
            try await eventually { hasWaited }
            isReadable.withLock { $0 = true }
            try await eventually { changes == 1 }
            #expect(faces.face(of: "a")?.name == "Editor")
        }
    }

    @Test("what has no application has no picture, at once")
    func none() async throws {
        try await onLoop {
            var isAnswered = false
            ApplicationLooks { _ in nil }.find(["", ""]) { _ in isAnswered = true }
            #expect(isAnswered)
        }
    }
}
