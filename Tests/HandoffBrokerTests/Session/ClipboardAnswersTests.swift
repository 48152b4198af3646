// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("What a peer answers of its clipboard", .timeLimit(.minutes(1)))
struct ClipboardAnswersTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func answer(_ types: [String], _ sizes: [UInt64], _ content: [UInt8]) -> [String: Value] {
        ["Types": .strings(types), "Sizes": .numbers(sizes), "Content": .bytes(content)]
    }

    @MainLoop
    private func outcome(_ session: TestSession) async -> ErrorName? {
        do {
            let user = session.bus.connect()
            defer { withExtendedLifetime(user) {} }
            let proxy = ClipboardProxy(
                RemoteObject(user.connection, HandoffNames.broker, HandoffNames.brokerPath))
            _ = try await proxy.read(deviceId: session.peer.device.description, type: "").contents
        } catch {
            return DBusError.converting(error).name
        }
        return nil
    }

    @Test(
        "sizes that lie, types that are none, text that is no UTF-8, an image that is none: nothing of it is taken"
    )
    func lies() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            let long = String(repeating: "a", count: 10_000)
            let wrong: [[String: Value]] = [
                [:], Self.answer(["text/plain"], [2], [65]), Self.answer(["text/plain"], [0], [65]),
                Self.answer(["text/plain"], [.max], [65]),
                Self.answer(["text/plain", "text/html"], [.max, 2], [65]),
                Self.answer([], [], []), Self.answer(["text/plain", "text/plain"], [1, 0], [65]),
                Self.answer([long], [1], [65]),
                Self.answer((0..<100).map { "a/\($0)" }, Array(repeating: 0, count: 100), []),
                Self.answer(["text/plain"], [1], [0xFF]), Self.answer(["image/png"], [2], [1, 2]),
                Self.answer(["text/rtf"], [1], [65]),
                ["Types": .strings(["text/plain"]), "Sizes": .numbers([1]), "Continuation": .string("x")],
            ]
            for answer in wrong {
                session.peer.onFetchClipboard = { _ in answer }
                let name = await outcome(session)
                #expect(
                    name == HandoffFailure.Code.applicationFailed.errorName
                        || name == HandoffFailure.Code.limitsExceeded.errorName, "\(answer.keys.sorted())")
            }
            session.peer.onFetchClipboard = { _ in Self.answer(["text/plain", "x/y"], [1, 1], [65, 66]) }
            #expect(await outcome(session) == nil)
        }
    }

    @Test(
        "a large content that ends too soon, goes on too long, or is another than it was, is not taken",
        arguments: 0...3)
    func documents(what: Int) async throws {
        try await onLoop {
            let session = try await TestSession.start()
            let size: UInt64 = 300_000
            let id = String(repeating: "b", count: 32)
            session.peer.onFetchClipboard = { _ in
                ["Types": .strings(["text/plain"]), "Sizes": .numbers([size]), "Continuation": .string(id)]
            }
            var document = FakeDocument(String(repeating: "a", count: Int(size) + (what == 1 ? 1 : 0)))
            if what == 2 { document.sent = Int(size) - 1 }
            if what == 3 { document.checksum = [UInt8](repeating: 0, count: 32) }
            session.peer.onOpenDocument = { [document] in try document.send() }
            #expect(await (outcome(session) == nil) == (what == 0))
        }
    }
}
