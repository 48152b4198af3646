// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Handing over from one connection of an application to another")
struct HandoverTests {
    private func asked() throws -> Continuation {
        var continuation = Continuation(
            id: try Example.continuation(1), device: try Example.device(1), offer: try Example.offer(),
            target: .application(try Example.application(), isRunning: true), caller: "a")
        _ = continuation.begin(at: .at(0))
        return continuation
    }

    private func fetched() throws -> Continuation.Fetched {
        .init(offer: try Example.offer(), document: .none)
    }

    @Test(
        "one that has no WillContinueActivity gives way to one that is asked in its place, in a time of its own"
    )
    func withoutWillContinue() throws {
        var continuation = try asked()
        #expect(continuation.isAwaiting(.willContinue) && !continuation.isAwaiting(.continue))
        #expect(continuation.handedOver(.ask, at: .at(900)) == [.askWillContinue])
        #expect(continuation.nextDeadline == .at(1900))
        #expect(continuation.willContinueAnswered(true, at: .at(901)) == [])
        #expect(!continuation.isAwaiting(.willContinue))
        #expect(continuation.fetched(try fetched(), at: .at(902)) == [.deliver])
        #expect(continuation.isAwaiting(.continue))
        #expect(
            continuation.deliverAnswered(.handled, at: .at(903)).first
                == .finished(.continued, callers: ["a"]))
    }

    @Test("one that has no ContinueActivity gives way to one that is asked first, and is handed it then")
    func withoutContinue() throws {
        var continuation = try asked()
        _ = continuation.willContinueAnswered(false, at: .at(1))
        #expect(continuation.fetched(try fetched(), at: .at(2)) == [.deliver])
        #expect(continuation.handedOver(.ask, at: .at(3)) == [.askWillContinue])
        #expect(continuation.willContinueAnswered(false, at: .at(4)) == [.deliver])
        #expect(continuation.handedOver(.deliver, at: .at(5)) == [.deliver])
        #expect(continuation.nextDeadline == .at(30_005))
    }

    @Test("nothing is handed over that is not being waited for")
    func tooLate() throws {
        var continuation = try asked()
        _ = continuation.willContinueAnswered(false, at: .at(1))
        #expect(continuation.handedOver(.ask, at: .at(2)) == [])
        _ = continuation.stopped(.disabled)
        #expect(continuation.handedOver(.deliver, at: .at(3)) == [])
        #expect(!continuation.isAwaiting(.willContinue) && !continuation.isAwaiting(.continue))
    }

    @Test(
        "the latest connection is best, without WillContinueActivity one that has it, without ContinueActivity none"
    )
    func recipients() {
        var recipients = Recipients()
        let all = [":1.1", ":1.2", ":1.3"]
        #expect(recipients.best(of: all) == ":1.3")
        recipients.lacks(.willContinue, ":1.3")
        #expect(recipients.best(of: all) == ":1.2")
        recipients.lacks(.willContinue, ":1.2")
        #expect(recipients.best(of: all) == ":1.1")
        recipients.lacks(.willContinue, ":1.1")
        // It may do without; only what it cannot do without counts now.
        #expect(recipients.best(of: all) == ":1.3")
        recipients.lacks(.continue, ":1.3")
        #expect(recipients.best(of: all) == ":1.2")
        #expect(recipients.isLacking(.continue, ":1.3") && !recipients.isLacking(.continue, ":1.2"))
        for connection in all { recipients.lacks(.continue, connection) }
        #expect(recipients.best(of: all) == nil)
        #expect(recipients.best(of: [":1.4"]) == ":1.4")
    }

    @Test(
        "whoever gives way is asked no more often than there are connections, whatever they lack",
        arguments: 0..<64)
    func ends(_ lacking: Int) {
        let all = [":1.1", ":1.2", ":1.3"]
        func lacks(_ member: Recipients.Member, _ connection: String) -> Bool {
            guard let index = all.firstIndex(of: connection) else { return false }
            return lacking >> (index + (member == .continue ? 3 : 0)) & 1 == 1
        }
        var recipients = Recipients()
        var handed: [String] = []
        for _ in 0..<20 {
            guard let best = recipients.best(of: all) else { break }
            if lacks(.willContinue, best), !recipients.isLacking(.willContinue, best) {
                recipients.lacks(.willContinue, best)
            } else {
                handed.append(best)
                guard lacks(.continue, best) else { break }
                recipients.lacks(.continue, best)
            }
        }
        #expect(Set(handed).count == handed.count)
        let able = all.filter { !lacks(.continue, $0) }
        #expect(able.isEmpty ? handed.count == 3 : handed.last.map(able.contains) == true)
    }
}
