// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Telephones that another program reaches", .timeLimit(.minutes(1)))
struct PhonesTests {
    private static let page = "https://example.com/a"

    /// The program that reaches them, which writes down what it is to send.
    @MainLoop
    private final class Adapter: PhoneAdapterServer {
        let bus: Bus
        private(set) var shared: [String] = []
        private static let path: ObjectPath = "/com/example/phones"

        init(_ device: TestDevice) {
            bus = device.bus.connect()
            bus.connection.policy = AllowAll()
            bus.connection.objects.export(Self.path, [PhoneAdapterBinding(self)])
            // Its object keeps it until then.
            TestEnds.add { [bus] in bus.connection.objects.unexport(Self.path) }
        }

        func announce(_ phones: [[String: Value]]) async throws {
            try await PhonesProxy(RemoteObject(bus.connection, HandoffNames.broker, HandoffNames.brokerPath))
                .announce(phones: phones, adapter: Self.path)
        }

        func share(phoneId: String, url: String, _ call: MethodCall) { shared.append("\(phoneId) \(url)") }
    }

    private func phone(_ id: String, _ name: String) -> [String: Value] {
        ["Id": .string(id), "Name": .string(name)]
    }

    /// The names of those that what is current can be sent to.
    @MainLoop
    private func listed(_ client: SessionClient) async throws -> [String] {
        let said = try await client.object(HandoffNames.brokerPath).properties(PhonesProxy.interface)
        guard case .array(let phones)? = said["Phones"] else { return [] }
        return phones.elements.compactMap { $0.properties?["Name"]?.string }
    }

    @MainLoop
    private func send(_ client: SessionClient, to id: String) async throws {
        try await PhonesProxy(client.object(HandoffNames.brokerPath)).send(phoneId: id)
    }

    @Test("those that are not what they should be are refused together, and those announced before stay")
    func refused() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let (client, adapter) = (try await SessionClient(desk), Adapter(desk))
            _ = try await client.offer("A page", ["WebpageURL": .string(Self.page)])
            let long = String(repeating: "a", count: 256)
            let most = (0..<16).map { phone("\($0)", long) }
            try await adapter.announce(most)
            #expect(try await listed(client).count == 16)
            let good = phone("b", "Bert")
            for bad in [
                ["Id": .string("a")], ["Name": .string("Anna")], ["Id": .string("a"), "Name": .uint32(5)],
                phone("", "Anna"), phone("a", ""), phone(long + "a", "Anna"), phone("a", long + "a"),
            ] {
                #expect(await isRefused(.invalidArguments) { try await adapter.announce([good, bad]) })
            }
            #expect(await isRefused(.limitsExceeded) { try await adapter.announce(most + [good]) })
            #expect(try await listed(client).count == 16)
            try await adapter.announce([phone("a", "An\u{1B}na")])
            #expect(try await listed(client) == ["An\u{FFFD}na"])
        }
    }

    @Test("they are listed as long as a page or a document is current, and until who reaches them leaves")
    func listed() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let client = try await SessionClient(desk)
            let (adapter, other) = (Adapter(desk), Adapter(desk))
            try await adapter.announce([phone("a", "Anna")])
            #expect(try await listed(client).isEmpty)
            _ = try await client.offer("Neither")
            #expect(try await listed(client).isEmpty)
            let document = try await client.offer("A letter", ["DocumentURL": .string("file:///a.txt")])
            #expect(try await listed(client) == ["Anna"])
            try await document.invalidate()
            _ = try await client.offer("A page", ["WebpageURL": .string(Self.page)])
            // The one that has said so last counts, and the end of others changes nothing.
            try await other.announce([phone("b", "Bert")])
            adapter.bus.leave()
            #expect(try await listed(client) == ["Bert"])
            await desk.setEnabled(false)
            #expect(try await listed(client).isEmpty)
            await desk.setEnabled(true)
            #expect(try await listed(client) == ["Bert"])
            other.bus.leave()
            repeat { await desk.pass(.zero) } while try await !listed(client).isEmpty
        }
    }

    @Test("what is current is saved and sent, its page before its document; all else is refused")
    func sent() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let (client, adapter) = (try await SessionClient(desk), Adapter(desk))
            #expect(await isRefused(.offerWithdrawn) { try await send(client, to: "a") })
            let both = ["WebpageURL": Value.string(Self.page), "DocumentURL": .string("file:///a.txt")]
            let activity = try await client.offer("Both", both)
            #expect(await isRefused(.unknownObject) { try await send(client, to: "a") })
            try await adapter.announce([phone("a", "Anna")])
            #expect(await isRefused(.unknownObject, saying: ["“b”"]) { try await send(client, to: "b") })
            client.onWillSave = { _ in ["WebpageURL": .string(Self.page + "#2")] }
            try await activity.setNeedsSave(true)
            try await send(client, to: "a")
            #expect(adapter.shared == ["a \(Self.page)#2"])
            client.onWillSave = { _ in [:] }
            _ = try await client.offer("Neither")
            #expect(await isRefused(.notSupported) { try await send(client, to: "a") })
            await desk.setEnabled(false)
            #expect(await isRefused(.disabled) { try await send(client, to: "a") })
            #expect(adapter.shared.count == 1)
        }
    }
}
