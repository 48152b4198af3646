// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

/// A session with one continuation here and one of an activity of its own.
@MainLoop
private final class Session {
    let device: DeviceID
    let ours: ContinuationID
    let here: ContinuationID
    /// How many streams count for our continuation and for the one here.
    private(set) var open = [0, 0]
    private(set) lazy var guards = StreamGuards { [weak self] owner, change in
        self?.open[owner.isOrigin ? 0 : 1] += change == .opened ? 1 : -1
    }

    init() throws {
        device = try Sample.device()
        ours = try #require(ContinuationID(bytes: [UInt8](repeating: 1, count: 16)))
        here = try #require(ContinuationID(bytes: [UInt8](repeating: 2, count: 16)))
    }
}

@Suite("The streams that bridges have")
struct StreamGuardsTests {
    private static let bridge = Caller(name: ":1.7", credentials: nil, sandbox: nil)
    private static let next = Caller(name: ":1.8", credentials: nil, sandbox: nil)

    @MainLoop
    private static func add(
        _ number: UInt32, isOrigin: Bool, to guards: StreamGuards, _ session: Session,
        from bridge: Caller = bridge
    ) throws {
        let pair = try FileDescriptor.socketPair()
        let owner = StreamGuards.Owner(
            device: session.device, continuation: isOrigin ? session.ours : session.here, isOrigin: isOrigin)
        try guards.add(number, owner, pair.ours, bridge)
    }

    @Test("a stream counts for its continuation until it is over")
    func counting() async throws {
        try await onLoop {
            let session = try Session()
            let guards = session.guards
            try Self.add(1, isOrigin: true, to: guards, session)
            try Self.add(2, isOrigin: false, to: guards, session)
            #expect(session.open == [1, 1])
            guards.remove(1, Self.bridge)
            guards.remove(1, Self.bridge)
            // The numbers are each bridge's own.
            guards.remove(2, Self.next)
            #expect(session.open == [0, 1])
        }
    }

    @Test("a number that comes again takes the place of the former")
    func again() async throws {
        try await onLoop {
            let session = try Session()
            let guards = session.guards
            try Self.add(1, isOrigin: true, to: guards, session)
            try Self.add(1, isOrigin: false, to: guards, session)
            #expect(session.open == [0, 1])
        }
    }

    @Test("with a bridge its streams are gone, and no other's")
    func vanished() async throws {
        try await onLoop {
            let session = try Session()
            let guards = session.guards
            try Self.add(1, isOrigin: true, to: guards, session)
            try Self.add(1, isOrigin: true, to: guards, session, from: Self.next)
            try Self.add(2, isOrigin: false, to: guards, session)
            guards.vanished(":1.7")
            #expect(session.open == [1, 0])
        }
    }
}
