// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport

@testable import HandoffBridge

extension Vectors {
    /// What a device does with what it should not be sent, each on a link with a device that does as it says.
    @MainLoop
    func links() async throws -> JSON {
        var (answers, linked): ([JSON], [Bool: LinkedDevice]) = ([], [:])
        for sent in try BadMessage.all() {
            let device: LinkedDevice
            if sent.comesFirst {
                device = try await .start(isPeer: sent.isFromPeer, saysHello: false)
            } else if let there = linked[sent.isFromPeer], !there.isClosed {
                device = there
            } else {
                device = try await .start(isPeer: sent.isFromPeer, saysHello: true)
                linked[sent.isFromPeer] = device
            }
            let outcome = try await device.outcome(of: sent)
            answers.append(
                .object(
                    [
                        ("name", .text(sent.name)), ("from", sent.isFromPeer ? "peer" : "stranger"),
                        ("comesFirst", .truth(sent.comesFirst)), ("bytes", .bytes(sent.bytes)),
                    ] + outcome))
        }
        return ["sent": .list(answers)]
    }
}

/// A device, and another one that is linked with it and sends it bytes.
@MainLoop
private final class LinkedDevice {
    private let device: TestDevice
    private let raw: RawDevice
    /// Numbers that nothing else uses here.
    private var ping: UInt32 = 0x7000_0000

    private init(_ device: TestDevice, _ raw: RawDevice) { (self.device, self.raw) = (device, raw) }

    var isClosed: Bool { raw.isClosed }

    static func start(isPeer: Bool, saysHello: Bool) async throws -> LinkedDevice {
        let linked = LinkedDevice(try await TestDevice.start(), try RawDevice())
        let (device, raw) = (linked.device, linked.raw)
        if isPeer {
            _ = try await device.proxy.trust(deviceId: raw.id.description, name: "Raw")
        } else {
            device.bridge.discoverability.set(true)
        }
        if saysHello {
            try await raw.link(to: device)
            try await eventually { device.bridge.links.current[raw.id] != nil }
            if isPeer { try await eventually { device.broker?.saw("add \(raw.id)") == true } }
        } else {
            try await raw.connect(to: device)
        }
        return linked
    }

    /// What comes of it: an answer, an error, the end of the link.
    func outcome(of sent: BadMessage) async throws -> [(key: String, value: JSON)] {
        raw.send(sent.bytes)
        ping += 1
        let question = try Message.call(to: nil, "/", "org.example.Handoff.Link", "Ping")
        question.setSerial(ping)
        raw.send(try question.marshal())
        // What has no number has no answer.
        let answer = { [raw] in sent.serial == 0 ? nil : raw.answer(to: sent.serial) }
        try await eventually {
            raw.isClosed || raw.answer(to: ping) != nil && answer() != nil
        }
        var outcome: [(key: String, value: JSON)] = []
        if let answer = answer() {
            outcome.append(answer.error.map { ("error", .text($0.name.text)) } ?? ("answered", true))
        }
        if raw.isClosed { outcome.append(("closes", true)) }
        return outcome
    }
}
