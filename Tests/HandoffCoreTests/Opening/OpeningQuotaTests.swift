// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffCore

@Suite("Connections before the end of their opening")
struct OpeningQuotaTests {
    private static func second(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }

    @Test("of one source four wait; a fifth takes the place of the oldest of them")
    func socketsOfSource() {
        var quota = OpeningQuota()
        for number in 1...4 {
            #expect(arrive(&quota, "a", 0) == .admit(number, dropping: nil))
        }
        #expect(arrive(&quota, "b", 0) == .admit(5, dropping: nil))
        #expect(arrive(&quota, "a", 0) == .admit(6, dropping: 1))
        #expect(quota.count == 5)
    }

    @Test("of one source five begin in a second, and as many more as are expected of it")
    func openingsOfSource() {
        var quota = OpeningQuota()
        for number in 1...5 {
            #expect(arrive(&quota, "a", 0) == .admit(number, dropping: number == 5 ? 1 : nil))
        }
        #expect(arrive(&quota, "a", 0.9) == .refuseSource)
        #expect(arrive(&quota, "a", 0.9, extra: 1) == .admit(6, dropping: nil))
        #expect(arrive(&quota, "a", 1.1) != .refuseSource)
    }

    @Test(
        "those that are known to be somebody's do not count any more, so that all that are expected may come")
    func matched() {
        var quota = OpeningQuota()
        for left in (0..<16).reversed() {
            guard case .admit(let number, nil) = arrive(&quota, "a", 0, extra: left + 1) else {
                Issue.record("with \(left) left one was refused")
                return
            }
            quota.matched(number)
        }
        #expect(arrive(&quota, "a", 0) == .admit(17, dropping: nil) && quota.count == 1)
    }

    @Test("in all fifty begin in a second, and what a source may not is not among them")
    func openings() {
        var quota = OpeningQuota()
        for number in 0..<50 {
            let decision = arrive(&quota, "\(number / 5)", 0)
            if case .admit(let number, _) = decision {
                quota.ended(number)
            } else {
                Issue.record("\(decision)")
            }
        }
        #expect(arrive(&quota, "0", 0) == .refuseSource)
        #expect(arrive(&quota, "new", 0) == .refuseAll)
        #expect(arrive(&quota, "new", 1.01) == .admit(51, dropping: nil))
    }

    @Test("a source at which a peer may be has a share that all others together cannot take")
    func share() {
        var quota = OpeningQuota()
        for number in 0..<200 { _ = arrive(&quota, "stranger \(number)", 0) }
        #expect(arrive(&quota, "new", 0) == .refuseAll)
        for _ in 1...OpeningQuota.share {
            guard case .admit(_, nil) = arrive(&quota, "peer", 0, mayBePeer: true) else {
                Issue.record("a peer was refused")
                return
            }
        }
        #expect(
            arrive(&quota, "peer", 0, mayBePeer: true) == .refuseAll, "beyond its share it is as others are")
    }

    @Test(
        "if more than 64 wait, the oldest of the busiest source goes, and none that has its place by a peer's share"
    )
    func sockets() {
        var quota = OpeningQuota()
        var time = 0.0
        var shared: Set<Int> = []
        for _ in 0..<2 {
            guard case .admit(let number, nil) = arrive(&quota, "peer", time, mayBePeer: true) else { return }
            shared.insert(number)
        }
        for number in 0..<64 {
            time += 0.03
            let source = number < 3 ? "busy" : "quiet \(number)"
            #expect(arrive(&quota, source, time) == .admit(number + 3, dropping: nil))
        }
        #expect(arrive(&quota, "new", time + 0.03) == .admit(67, dropping: 3))
        for number in 0..<70 {
            time += 0.03
            guard case .admit(_, let dropped?) = arrive(&quota, "newer \(number)", time) else {
                Issue.record("nobody went")
                return
            }
            #expect(!shared.contains(dropped))
        }
    }

    @Test(
        "whatever comes, the limits hold, and a peer's source is never refused within its share",
        arguments: 0..<200)
    func property(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (quota, now, waiting, own) = (
            OpeningQuota(), Instant(microseconds: 0), [Int: String](), [Instant]()
        )
        for _ in 0..<500 {
            now = now.advanced(by: .microseconds(Int64.random(in: 0...60_000, using: &generator)))
            let source = "\(Int.random(in: 0..<30, using: &generator))"
            let isPeer = source == "0"
            own.removeAll { $0 <= now.advanced(by: .seconds(-1)) }
            switch quota.arrived(from: source, at: now, mayBePeer: { isPeer }) {
            case .admit(let number, let dropped):
                if let dropped { #expect(waiting.removeValue(forKey: dropped) != nil) }
                waiting[number] = source
                if isPeer { own.append(now) }
            case .refuseSource, .refuseAll:
                if isPeer { #expect(own.count >= OpeningQuota.share) }
            }
            #expect(
                quota.count == waiting.count && waiting.count <= OpeningQuota.sockets + OpeningQuota.share)
            #expect(waiting.values.count { $0 == source } <= OpeningQuota.socketsOfSource)
            if Bool.random(using: &generator), let number = waiting.keys.randomElement(using: &generator) {
                quota.ended(number)
                waiting[number] = nil
            }
        }
    }

    private func arrive(
        _ quota: inout OpeningQuota, _ source: String, _ time: Double, extra: Int = 0, mayBePeer: Bool = false
    ) -> OpeningQuota.Decision {
        quota.arrived(from: source, extra: extra, at: Self.second(time)) { mayBePeer }
    }
}

@Suite("Strangers who wait for their handshake")
struct StrangerQueueTests {
    @Test("two handshakes begin in a second")
    func rate() {
        var queue = StrangerQueue()
        for number in 1...4 { #expect(queue.arrived(number, from: "\(number)") == nil) }
        let start = Instant(microseconds: 5)
        #expect([queue.next(at: start), queue.next(at: start), queue.next(at: start)] == [1, 2, nil])
        #expect(queue.nextDeadline(at: start) == start.advanced(by: .seconds(1)))
        let later = start.advanced(by: .seconds(1))
        #expect([queue.next(at: later), queue.next(at: later), queue.next(at: later)] == [3, 4, nil])
        #expect(queue.nextDeadline(at: later) == nil, "nobody waits")
    }

    @Test("the sources take turns, however many come from one of them")
    func turns() {
        var queue = StrangerQueue()
        for number in 1...5 { _ = queue.arrived(number, from: "busy") }
        _ = queue.arrived(6, from: "quiet")
        #expect(
            [queue.next(at: Instant(microseconds: 0)), queue.next(at: Instant(microseconds: 0))] == [1, 6])
        _ = queue.arrived(7, from: "new")
        #expect(queue.next(at: Instant(microseconds: 1_000_000)) == 7)
    }

    @Test("of more than eight, the oldest of the source that has the most goes")
    func crowd() {
        var queue = StrangerQueue()
        for number in 1...6 { _ = queue.arrived(number, from: "\(number)") }
        for number in 7...8 { _ = queue.arrived(number, from: "busy") }
        #expect(queue.arrived(9, from: "new") == 7)
        #expect(queue.arrived(10, from: "newer") == 1)
        #expect(queue.count == StrangerQueue.maximum)
        queue.ended(9)
        #expect(queue.arrived(11, from: "newest") == nil)
    }
}
