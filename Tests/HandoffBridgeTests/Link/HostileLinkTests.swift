// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

private let peer: InterfaceName = "org.example.Handoff.Peer"
private let activity = "0123456789abcdef0123456789abcdef"

@Suite("What other devices may not do", .serialized)
struct HostileLinkTests {
    /// A device with a linked stranger, or with a linked peer.
    @MainLoop
    private func pair(trusted: Bool = true) async throws -> (TestDevice, RawDevice) {
        let (device, raw) = (try await TestDevice.start(), try RawDevice())
        if trusted {
            _ = try await device.proxy.trust(deviceId: raw.id.description, name: "Raw")
        } else {
            device.bridge.discoverability.set(true)
        }
        try await raw.link(to: device)
        try await eventually { device.bridge.links.current[raw.id] != nil }
        return (device, raw)
    }

    @Test("a stranger may say Hello and nothing else")
    func stranger() async throws {
        try await onLoop {
            let (device, raw) = try await pair(trusted: false)
            for member in [
                "Offer", "Withdraw", "Invite", "Fetch", "Continued", "Release", "OpenStream", "OpenDocument",
            ] {
                let answer = try await raw.call(peer, try MemberName(member))
                #expect(answer?.error?.name == .accessDenied)
            }
            let unpair = try await raw.call("org.example.Handoff.Link", "Unpair")
            #expect(unpair?.error?.name == .accessDenied)
            let ping = try await raw.call("org.freedesktop.DBus.Peer", "Ping")
            #expect(ping?.error?.name == .accessDenied)
            #expect(device.broker?.events == [])
        }
    }

    @Test("a stranger that sends more than 64 KiB is cut off, a peer is not")
    func strangersAllowance() async throws {
        try await onLoop {
            for trusted in [true, false] {
                let (_, raw) = try await pair(trusted: trusted)
                let text = String(repeating: "x", count: 10_000)
                for _ in 0..<7 where !raw.isClosed {
                    _ = try await raw.call(peer, "Withdraw") { (writer) throws(DBusError) in
                        try writer.write(text)
                    }
                }
                #expect(raw.isClosed != trusted)
            }
        }
    }

    @Test("of nine strangers the first goes")
    func tooManyStrangers() async throws {
        try await onLoop {
            let device = try await TestDevice.start()
            device.bridge.discoverability.set(true)
            var strangers: [RawDevice] = []
            for _ in 0..<9 {
                strangers.append(try RawDevice())
                try await strangers.last?.link(to: device)
            }
            try await eventually { strangers[0].isClosed }
            #expect(!strangers.dropFirst().contains { $0.isClosed })
        }
    }

    @Test("whoever shows another certificate than the one that is trusted is a stranger")
    func impostor() async throws {
        try await onLoop {
            let (device, raw) = try await pair()
            #expect(device.bridge.peers[raw.id]?.link != nil)
            let impostor = try RawDevice()
            device.bridge.discoverability.set(true)
            try await impostor.link(to: device)
            let answer = try await impostor.call(peer, "Withdraw") { (writer) throws(DBusError) in
                try writer.write(activity)
            }
            #expect(answer?.error?.name == .accessDenied)
            #expect(!raw.isClosed)
        }
    }

    @Test("a dialled device with another certificate than expected does not get ours")
    func wrongServer() async throws {
        try await onLoop {
            let (device, raw) = (try await TestDevice.start(), try RawDevice())
            let address = try #require(NetworkAddress(device.address))
            device.bridge.discoverability.set(true)
            let socket = try await SocketConnection.connect(to: address)
            try await Opening().dial(socket, as: raw.id, secrets: [])
            let other = try RawDevice().id
            let error = await #expect(throws: TLSFailure.self) {
                _ = try await TLSConnection.establish(
                    .client, over: socket, as: raw.identity, demanding: other)
            }
            #expect(error?.isOurselves == false)
            #expect(error?.description.contains(device.id.description) == true)
            try await letPass(.milliseconds(50))
            #expect(device.bridge.links.all(with: raw.id).isEmpty)
        }
    }

    @Test("an address of this device is refused, by whichever side notices first")
    func itself() async throws {
        try await onLoop {
            let device = try await TestDevice.start()
            await expectError("org.freedesktop.DBus.Error.InvalidArgs") {
                try await device.proxy.connect(address: device.address)
            }
            await expectError("org.freedesktop.DBus.Error.InvalidArgs") {
                try await device.proxy.trust(deviceId: device.id.description, name: "")
            }
        }
    }

    @Test("anything before Hello ends the link, as does the version 0")
    func beforeHello() async throws {
        try await onLoop {
            let device = try await TestDevice.start()
            let early = try RawDevice()
            _ = try await device.proxy.trust(deviceId: early.id.description, name: "")
            try await early.connect(to: device)
            try early.send(Message.call(to: nil, "/", peer, "Withdraw"))
            try await eventually { early.isClosed }
            let old = try RawDevice()
            _ = try await device.proxy.trust(deviceId: old.id.description, name: "")
            try await old.connect(to: device)
            let serial = try old.send(old.hello(version: 0))
            try await eventually { old.isClosed }
            #expect(old.answer(to: serial)?.error?.name == .notSupported)
        }
    }

    @Test("garbage on an established link ends it", arguments: [16, 100, 70_000])
    func garbage(size: Int) async throws {
        try await onLoop {
            let (device, raw) = try await pair()
            raw.send([UInt8](repeating: 0x6C, count: size))
            try await eventually { raw.isClosed }
            #expect(device.bridge.links.current[raw.id] == nil)
        }
    }

    /// The serial number of the call of `member` that was sent to `raw`.
    @MainLoop
    private func serial(of member: String, at raw: RawDevice) async throws -> UInt32 {
        try await eventually { raw.messages.contains { $0.member == member } }
        return try #require(raw.messages.first { $0.member == member }).serial
    }

    /// An answer to the call with this serial number, with `count` bytes as its argument.
    @MainLoop
    private func reply(to serial: UInt32, bytes count: Int = 0) throws -> Message {
        let call = try Message.call(to: nil, "/", peer, "Fetch")
        call.setSerial(serial)
        let reply = try Message.reply(to: call)
        var writer = MessageWriter(reply)
        try writer.write(["UserInfo": Value.bytes([UInt8](repeating: 7, count: count))])
        return reply
    }

    @Test("an answer to a call that there never was ends the link, as does a second one")
    func unsolicited() async throws {
        try await onLoop {
            for isSecond in [false, true] {
                let (device, raw) = try await pair()
                let hello = try await serial(of: "Hello", at: raw)
                try raw.send(reply(to: isSecond ? hello : 4000))
                try await eventually { raw.isClosed }
                #expect(device.bridge.links.current[raw.id] == nil)
            }
        }
    }

    @Test("an answer that comes too late is passed over, once, however much it holds")
    func lateReply() async throws {
        try await onLoop {
            let (device, raw) = try await pair()
            let link = try #require(device.bridge.links.current[raw.id])
            await expectError("org.freedesktop.DBus.Error.NoReply") {
                _ = try await PeerProxy(link.remote).fetch(
                    activity: activity, continuation: activity, timeout: .milliseconds(1))
            }
            let serial = try await serial(of: "Fetch", at: raw)
            try raw.send(reply(to: serial, bytes: 300_000))
            let answer = try await raw.call(peer, "Withdraw") { (writer) throws(DBusError) in
                try writer.write(activity)
            }
            #expect(answer != nil && !raw.isClosed)
            try raw.send(reply(to: serial))
            try await eventually { raw.isClosed }
        }
    }

    @Test("the answer to Fetch may have 320 KiB, anything else 16")
    func sizes() async throws {
        try await onLoop {
            for (member, count, isTaken) in [
                ("Fetch", 327_000, true), ("Fetch", 328_000, false), ("Withdraw", 17_000, false),
            ] {
                let (device, raw) = try await pair()
                let proxy = PeerProxy(try #require(device.bridge.links.current[raw.id]).remote)
                let call = MainLoop.start {
                    if member == "Fetch" {
                        return try await proxy.fetch(activity: activity, continuation: activity).unpacked()
                            .count
                    }
                    try await proxy.withdraw(activity: activity)
                    return 0
                }
                try raw.send(reply(to: try await serial(of: member, at: raw), bytes: count))
                let result = await call.result
                #expect((try? result.get()) == (isTaken ? 1 : nil))
                try await eventually { raw.isClosed != isTaken }
            }
            let (device, raw) = try await pair()
            let (_, link) = (raw, try #require(device.bridge.links.current[raw.id]))
            await expectError("org.freedesktop.DBus.Error.LimitsExceeded") {
                try await PeerProxy(link.remote).withdraw(activity: String(repeating: "x", count: 17_000))
            }
            #expect(!link.isClosed)
        }
    }

    @Test("a call of more than 16 KiB ends the link before it has come as a whole")
    func longCall() async throws {
        try await onLoop {
            let (_, raw) = try await pair()
            let message = try Message.call(to: nil, "/", peer, "Withdraw")
            var writer = MessageWriter(message)
            try writer.write(String(repeating: "x", count: 17_000))
            message.setSerial(100)
            raw.send(Array(try message.marshal().prefix(1000)))
            try await eventually { raw.isClosed }
        }
    }

    @Test("a message that comes byte by byte is a message")
    func slow() async throws {
        try await onLoop {
            let (_, raw) = try await pair()
            let message = try Message.call(to: nil, "/", peer, "Withdraw")
            var writer = MessageWriter(message)
            try writer.write(activity)
            message.setSerial(1000)
            for byte in try message.marshal() {
                raw.send([byte])
                try await MainLoop.sleep(for: .microseconds(100))
            }
            try await eventually { raw.answer(to: 1000) != nil }
            #expect(raw.answer(to: 1000)?.error == nil)
        }
    }

    @Test("a peer that floods with Hello is cut off")
    func helloFlood() async throws {
        try await onLoop {
            let (_, raw) = try await pair()
            for _ in 0..<20 { try raw.send(raw.hello()) }
            try await eventually { raw.isClosed }
        }
    }

    @Test("of calls under way only sixteen are taken, and the rest when those are answered")
    func callsUnderWay() async throws {
        try await onLoop {
            let (device, raw) = try await pair()
            let gate = Promise<Bool>()
            device.broker?.onFetch = { _, _ in
                _ = try await gate.get()
                return [:]
            }
            try await eventually { device.broker?.saw("add \(raw.id)") == true }
            for number in 0..<40 {
                let message = try Message.call(to: nil, "/", peer, "Fetch")
                var writer = MessageWriter(message)
                try writer.write(activity)
                try writer.write("0000000000000000000000000000000\(number % 10)")
                try raw.send(message)
            }
            let fetches = { device.broker?.events.count { $0.hasPrefix("fetch") } ?? 0 }
            try await eventually { fetches() == 16 }
            try await letPass(.milliseconds(100))
            #expect(fetches() == 16)
            gate.keep(true)
            try await eventually { fetches() == 40 }
            #expect(!raw.isClosed)
        }
    }

    @Test("a peer that asks but does not read is cut off before more than 4 MiB wait for it")
    func unread() async throws {
        try await onLoop {
            let (device, raw) = try await pair()
            let bytes = [UInt8](repeating: 7, count: 250_000)
            device.broker?.onFetch = { _, _ in ["UserInfo": .bytes(bytes)] }
            try await eventually { device.broker?.saw("add \(raw.id)") == true }
            raw.isReading = false
            for _ in 0..<100 {
                let message = try Message.call(to: nil, "/", peer, "Fetch")
                var writer = MessageWriter(message)
                try writer.write(activity)
                try writer.write(activity)
                try raw.send(message)
            }
            try await eventually { device.bridge.links.current[raw.id] == nil }
        }
    }

    @Test("connections that say nothing are dropped after two seconds, and do not stop others")
    func silence() async throws {
        try await onLoop {
            let device = try await TestDevice.start()
            let address = try #require(NetworkAddress(device.address))
            var silent: [SocketConnection] = []
            for _ in 0..<70 { silent.append(try await SocketConnection.connect(to: address)) }
            // This is sooner than they would be dropped for their silence.
            try await eventually(timeout: .seconds(1)) {
                silent.count { !$0.hasBeenEnded } <= OpeningQuota.socketsOfSource
            }
            device.bridge.discoverability.set(true)
            // So many connections were more than the device takes in a second.
            try await MainLoop.sleep(for: .seconds(1))
            let raw = try RawDevice()
            try await raw.link(to: device)
            try await eventually { silent.allSatisfy(\.hasBeenEnded) }
            silent = []
        }
    }
}
