// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffCore
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("The identity of a device")
struct IdentityTests {
    @Test("it is made once and is the same afterwards")
    func made() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            let state = StateFolder(folder.path("a/b/state"))
            try state.lock()
            let made = try Identity.loadOrMake(in: state)
            #expect(try Identity.loadOrMake(in: state).device == made.device)
            let attributes = try FileManager.default.attributesOfItem(atPath: state.file(Identity.fileName))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let directory = try FileManager.default.attributesOfItem(atPath: state.path)
            #expect(directory[.posixPermissions] as? Int == 0o700)
        }
    }

    @Test("no two are the same")
    func different() throws {
        #expect(
            try Identity(pem: KeyMaker.makeIdentity()).device != Identity(pem: KeyMaker.makeIdentity()).device
        )
    }

    @Test("what is no key with its certificate is set aside with the trust store, and said")
    func damage() async throws {
        try await onLoop {
            let (one, other) = (try KeyMaker.makeIdentity(), try KeyMaker.makeIdentity())
            let marker = "-----BEGIN CERTIFICATE-----"
            let half = try #require(one.range(of: marker)?.lowerBound)
            let otherHalf = try #require(other.range(of: marker)?.lowerBound)
            let mixed = one[..<half] + other[otherHalf...]
            for text in [
                "", "garbage", String(one[..<half]), String(one[half...]), String(one.dropLast(80)),
                String(mixed),
            ] {
                let folder = try TemporaryDirectory()
                try folder.write(text, to: "state/identity.pem")
                try folder.write("[Trust]\nVersion=1\nCount=0\n", to: "state/trust")
                let state = StateFolder(folder.path("state"))
                #expect(throws: StartFailure.self) { try Identity.loadOrMake(in: state) }
                let kept = try FileManager.default.contentsOfDirectory(atPath: state.path).sorted()
                #expect(kept.count == 2)
                #expect(kept.first?.hasPrefix("identity.pem.damaged-") == true)
                #expect(kept.last?.hasPrefix("trust.damaged-") == true)
                _ = try Identity.loadOrMake(in: state)
            }
        }
    }

    @Test("a list of peers without the key is damage")
    func missingKey() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            try folder.write("[Trust]\nVersion=1\nCount=0\n", to: "state/trust")
            let state = StateFolder(folder.path("state"))
            #expect(throws: StartFailure.self) { try Identity.loadOrMake(in: state) }
            #expect(!FileManager.default.fileExists(atPath: state.file(Identity.fileName)))
        }
    }

    @Test("two bridges cannot have one state folder, and the second gets it when the first is gone")
    func lock() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            var first: StateFolder? = StateFolder(folder.path("state"))
            try first?.lock()
            let second = StateFolder(folder.path("state"))
            #expect(throws: StateFolderTaken.self) { try second.lock() }
            #expect(!second.isLocked)
            first = nil
            try second.lock(patience: .seconds(1))
            #expect(second.isLocked)
        }
    }
}
