// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import Platform
import Synchronization
import Testing

@testable import HandoffBridge

@Suite("Whether what is sent is watched")
struct SendingWatchTests {
    private let watch = SendingWatch()

    @Test(
        "who begins after a while is told to have it watched, and as long as something is sent it stays watched"
    )
    func life() {
        #expect(watch.begin())
        #expect(watch.isBusy())
        // This is a write that takes a long time.
        #expect(watch.isBusy())
        #expect(!watch.begin())
        watch.end()
        #expect(watch.isBusy())
        watch.end()
        #expect(!watch.isBusy())
        #expect(watch.begin())
        watch.end()
        // Something was sent between two looks.
        #expect(watch.isBusy())
        #expect(!watch.isBusy())
    }

    /// What the two sides of a race say to each other.
    private final class Race: Sendable {
        let started = Atomic<Int>(0)
        let finished = Atomic<Int>(0)
        let told = Atomic<Bool>(false)
    }

    @Test("however a thread's beginning and the loop's look meet, what is sent is watched")
    func race() throws {
        let (rounds, race) = (20_000, Race())
        try BackgroundThread.start("sender") { [watch] in
            for round in 1...rounds {
                while race.started.load(ordering: .acquiring) < round { sched_yield() }
                race.told.store(watch.begin(), ordering: .relaxed)
                race.finished.store(round, ordering: .releasing)
            }
        }
        for round in 1...rounds {
            race.started.store(round, ordering: .releasing)
            let isBusy = watch.isBusy()
            while race.finished.load(ordering: .acquiring) < round { sched_yield() }
            #expect(isBusy || race.told.load(ordering: .relaxed), "in round \(round)")
            watch.end()
            while watch.isBusy() {}
        }
    }
}
