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
}
