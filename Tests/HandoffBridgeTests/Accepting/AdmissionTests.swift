// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("Who is let in", .serialized)
struct AdmissionTests {
    @Test(
        "sources are IPv4 addresses, IPv6 addresses of our networks with their zone, and else the first 64 bits"
    )
    func sources() {
        let network = NetworkInterface(
            index: 2, name: "eth0",
            addresses: [
                NetworkInterface.Address(
                    bytes: [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [1],
                    mask: [UInt8](repeating: 0xFF, count: 8) + [UInt8](repeating: 0, count: 8))
            ])
        for (host, source) in [
            ("192.0.2.7", "192.0.2.7"), ("fe80::1%eth0", "fe80::1%eth0"), ("fe80::1%eth1", "fe80::1%eth1"),
            ("2001:db8::77", "2001:db8::77"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"), ("example.com", "example.com"), ("", ""),
        ] {
            #expect(NetworkSource.name(of: host, interfaces: [network]) == source)
        }
    }

    @Test("a port that is not chosen is one of a hundred, and another one after each change")
    func ports() async throws {
        try await onLoop {
            let device = try await TestDevice.start()
            var ports: [UInt16] = []
            for _ in 0..<5 {
                ports.append(device.bridge.port)
                device.bridge.entrance.renewPort()
            }
            #expect(ports.allSatisfy(Listener.ports.contains))
            #expect(zip(ports, ports.dropFirst()).allSatisfy { $0 != $1 })
        }
    }

    @Test(
        "whoever dialled is called back where it has said that it listens, after the other was off for a while"
    )
    func calledBack() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            let former = b.bridge.port
            // One time in a hundred it is the former port again, which proves nothing.
            repeat {
                b.broker?.setEnabled(false)
                try await eventually { a.link(with: b) == nil && b.bridge.port == 0 }
                b.broker?.setEnabled(true)
                try await eventually { a.link(with: b) != nil && b.link(with: a) != nil }
            } while b.bridge.port == former
            #expect(b.link(with: a)?.isDialled == true)
        }
    }

    @Test("what only one of two devices was told of opens nothing: its link is that of a stranger")
    func trustOpensNothing() async throws {
        try await onLoop {
            let (device, raw) = (try await TestDevice.start(), try RawDevice())
            _ = try await device.proxy.trust(deviceId: String(repeating: "7", count: 64), name: "")
            #expect(!device.bridge.welcomesStranger(from: "127.0.0.1"))
            let address = try #require(NetworkAddress(device.address))
            // Even a device that knows this device's id is not let in unless it is the one that is trusted.
            let keys = [[], [PeerSecret(trustBetween: raw.id, and: device.id)]]
            for secrets in keys {
                let socket = try await SocketConnection.connect(to: address)
                try await Opening().dial(socket, as: raw.id, secrets: secrets)
                await #expect(throws: Knock.Violation.self) { _ = try await socket.read(1) }
            }
        }
    }

    @Test("a stranger's link ends when strangers are not welcome any more")
    func dismissed() async throws {
        try await onLoop {
            let (device, raw) = (try await TestDevice.start(), try RawDevice())
            device.bridge.discoverability.set(true)
            try await raw.link(to: device)
            try await eventually { device.bridge.links.current[raw.id] != nil }
            device.bridge.discoverability.set(false)
            try await eventually { raw.isClosed && device.bridge.links.current[raw.id] == nil }
        }
    }

    @Test("a peer's callback is forgotten when it has not been reached there for long")
    func forgotten() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            let callback = try #require(b.bridge.whereabouts.callback(of: a.id))
            #expect(callback == NetworkAddress(a.address))
            for _ in 0..<Backoff.manyAtFirst { b.bridge.whereabouts.notReached(a.id, at: callback) }
            #expect(b.bridge.whereabouts.callback(of: a.id) == nil)
            #expect(b.bridge.whereabouts.mayBePeer(at: "127.0.0.1"))
        }
    }
}
