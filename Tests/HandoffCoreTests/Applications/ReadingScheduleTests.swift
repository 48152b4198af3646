// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("When something that changes is read")
struct ReadingScheduleTests {
    private static func at(_ milliseconds: Int64) -> Instant { Instant(microseconds: milliseconds * 1000) }

    @Test("it is read when somebody wants it, and then not before it changes")
    func once() {
        var schedule = ReadingSchedule()
        #expect(schedule.nextTime == nil)
        let begins = schedule.begin(at: Self.at(0))
        #expect(begins && schedule.isReading && schedule.nextTime == nil)
        let again = schedule.begin(at: Self.at(1))
        #expect(!again)
        schedule.ended(at: Self.at(2))
        #expect(!schedule.isReading && schedule.nextTime == nil)
    }

    @Test("after the first of many changes it waits for a moment, and not anew after each")
    func manyChanges() {
        var schedule = ReadingSchedule()
        for time in stride(from: Int64(1000), to: 1200, by: 10) { schedule.changed(at: Self.at(time)) }
        #expect(schedule.nextTime == Self.at(1200))
    }

    @Test("what changes while it is read is read once more")
    func changedMeanwhile() {
        var schedule = ReadingSchedule()
        _ = schedule.begin(at: Self.at(0))
        for time in 1...3 { schedule.changed(at: Self.at(Int64(time))) }
        #expect(schedule.nextTime == nil)
        schedule.ended(at: Self.at(5))
        #expect(schedule.nextTime == Self.at(205))
        _ = schedule.begin(at: Self.at(205))
        schedule.ended(at: Self.at(206))
        #expect(schedule.nextTime == nil)
    }

    @Test("the longer it takes, the longer the rest before the next time")
    func rest() {
        var schedule = ReadingSchedule()
        _ = schedule.begin(at: Self.at(0))
        schedule.ended(at: Self.at(1000))
        schedule.changed(at: Self.at(1000))
        #expect(schedule.nextTime == Self.at(21_000))
    }

    @Test("what could not be read is tried again later, changed or not", arguments: [false, true])
    func incomplete(isChanged: Bool) {
        var schedule = ReadingSchedule()
        _ = schedule.begin(at: Self.at(0))
        if isChanged { schedule.changed(at: Self.at(1)) }
        schedule.ended(isIncomplete: true, at: Self.at(2))
        #expect(schedule.nextTime == Self.at(2002))
    }

    @Test("one reading at a time; every change is read by one that began after it", arguments: 1...40)
    func invariants(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var schedule = ReadingSchedule()
        var now = Instant(microseconds: 0)
        /// What is written, and what of it has been read.
        var (written, read) = (0, 0)
        var begun: Int?
        for _ in 0..<400 {
            now = now.advanced(by: .milliseconds(Int.random(in: 0..<300, using: &generator)))
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                written += 1
                schedule.changed(at: now)
            case 1:
                guard let version = begun else { continue }
                begun = nil
                let isIncomplete = Int.random(in: 0..<4, using: &generator) == 0
                schedule.ended(isIncomplete: isIncomplete, at: now)
                if !isIncomplete { read = version }
            default:
                guard let time = schedule.nextTime, time <= now else { continue }
                let begins = schedule.begin(at: now)
                #expect(begins && begun == nil)
                begun = written
            }
            #expect(schedule.isReading == (begun != nil))
            #expect(schedule.isReading || schedule.nextTime != nil || read == written)
        }
    }
}
