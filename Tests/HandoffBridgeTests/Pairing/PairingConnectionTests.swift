// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("Connecting in order to pair", .serialized)
struct PairingConnectionTests {
    /// Has `a` connect to `b` in order to pair, does something to the link at once, and returns what the user
    /// is told.
    @MainLoop
    private func told(_ disturb: @MainLoop (TestDevice, Link) -> Void) async throws -> String {
        let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
        // Otherwise `b` may call back, and its link may replace the one that is disturbed.
        a.bridge.entrance.close()
        try await a.pair(with: b)
        a.link(with: b)?.close("for the test")
        try await eventually {
            // A link that either device makes by itself would take the place of the one that is tested.
            a.bridge.dials.abandon(b.id)
            b.bridge.dials.abandon(a.id)
            return a.link(with: b) == nil && b.link(with: a) == nil
        }
        try a.bridge.pairings.pair(b.id)
        #expect(a.bridge.pairings.shown(b.id).state == "waiting")
        while a.bridge.links.current[b.id] == nil { await Task.yield() }
        if let link = a.bridge.links.current[b.id] { disturb(a, link) }
        try await eventually { a.bridge.pairings.shown(b.id).error != .none }
        return a.bridge.pairings.shown(b.id).error.text
    }

    @Test("a link that is gone as soon as it is there is told as that")
    func gone() async throws {
        try await onLoop {
            let error = try await told { _, link in link.close("for the test") }
            #expect(error.hasPrefix("The link was lost as soon as it was there."))
        }
    }

    @Test("a link over which an attempt is over already is told as that")
    func spent() async throws {
        try await onLoop {
            let error = try await told { device, link in device.bridge.pairings.dialogue(link).abandon() }
            #expect(error.hasPrefix("The link that there is has served for an attempt already."))
        }
    }

    @Test("whoever pairs just when the other device ends the link connects anew, and goes on there, but once")
    func anew() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            b.bridge.discoverability.set(true)
            _ = try await a.proxy.connect(address: b.address)
            for (number, error) in [(1, false), (2, true)] {
                try await eventually {
                    b.bridge.links.current[a.id] != nil && a.bridge.links.current[b.id] != nil
                }
                if number == 1 { try a.bridge.pairings.pair(b.id) }
                let former = try #require(a.bridge.links.current[b.id])
                b.bridge.links.current[a.id]?.close("for the test")
                try await eventually { former.isClosed }
                #expect((a.bridge.pairings.shown(b.id).error != .none) == error)
                if !error { try await eventually { b.bridge.pairings.shown(a.id).state == "comparing" } }
            }
        }
    }
}
