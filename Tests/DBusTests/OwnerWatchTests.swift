// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import Platform
import TestSupport
import Testing

@Suite("Who owns a name", .timeLimit(.minutes(2)))
struct OwnerWatchTests {
    private static let name: BusName = "org.example.Daemon"

    @Test("an owner that another replaces is none from then on, also while the bus is asked who the other is")
    func replaced() async throws {
        try await onLoop {
            let bus = MemoryBus()
            let (watcher, first, second) = (bus.connect(), bus.connect(), bus.connect())
            var told: [BusName?] = []
            let watch = OwnerWatch(watcher, Self.name, log: Log(domain: "test")) { told.append($0) }
            try await eventually { told == [nil] }
            _ = try await first.request(Self.name)
            try await eventually { told == [nil, first.uniqueName] }
            _ = try await second.request(Self.name, replacing: true)
            try await eventually { told.last == second.uniqueName }
            #expect(told == [nil, first.uniqueName, nil, second.uniqueName])
            try await second.release(Self.name)
            try await eventually { told == [nil, first.uniqueName, nil, second.uniqueName, nil] }
            withExtendedLifetime(watch) {}
        }
    }

    @Test(
        "an owner whose process ends while it is found out who that is has left, and is not one of a sandbox")
    func ended() async throws {
        try await onLoop {
            let bus = MemoryBus()
            let asking = bus.connect()
            // Nothing can be found out of a process that has ended.
            var ending: Bus? = bus.connect(in: .unknown)
            _ = try await ending?.request(Self.name)
            var questions = 0
            bus.onMessage = { message in
                guard message.member == "GetConnectionCredentials" else { return }
                questions += 1
                if questions == 2 { ending = nil }
            }
            #expect(try await asking.identifiedOwner(of: Self.name) == nil)
            #expect(questions == 2 && ending == nil)
        }
    }
}
