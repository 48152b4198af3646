// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("The name of a device on the bus", .serialized)
struct DeviceNameTests {
    @Test("a name that is chosen, at the broker or at the bridge, is what peers are told at once")
    func chosen() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            a.broker?.setDeviceName("First")
            try await eventually { b.broker?.names["\(a.id)"] == "First" }
            try await a.proxy.setDeviceName("Second")
            #expect(try await a.proxy.deviceName() == "Second")
            #expect(a.broker?.deviceName == "Second")
            try await eventually { b.broker?.names["\(a.id)"] == "Second" }
        }
    }

    @Test("what the broker says of a name is the answer; none is refused, and so is any without a broker")
    func refused() async throws {
        try await onLoop {
            let a = try await TestDevice.start()
            try await a.proxy.setDeviceName("desk")
            for (error, expected) in [
                (ErrorName.invalidArgs, "org.freedesktop.DBus.Error.InvalidArgs"),
                (.failed, "org.freedesktop.DBus.Error.Failed"),
            ] {
                a.broker?.refusal = DBusError(error, "It is in handoff.conf.")
                await expectError(expected, saying: "handoff.conf") { try await a.proxy.setDeviceName("x") }
            }
            a.broker?.refusal = nil
            await expectError("org.freedesktop.DBus.Error.InvalidArgs", saying: "name") {
                try await a.proxy.setDeviceName("")
            }
            try await a.stopBroker()
            try await eventually { a.bridge.broker.present == nil }
            await expectError("org.example.Handoff.Error.ConnectionUnavailable", saying: "handoffd") {
                try await a.proxy.setDeviceName("Other")
            }
            #expect(try await a.proxy.deviceName() == "desk")
        }
    }
}
