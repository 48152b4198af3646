// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("Connections that do not read")
struct UnreadMessagesTests {
    private let client = ":1.7"

    /// `count` signals, the first of them number `first`.
    private func send(_ count: Int, from first: UInt32 = 1, to unread: inout UnreadMessages)
        -> [UnreadMessages.Action]
    {
        (0..<UInt32(count)).flatMap { unread.sent(first + $0, to: client, isCall: false) }
    }

    @Test("three calls in a row that are not answered end the patience")
    func calls() {
        var unread = UnreadMessages()
        for serial in UInt32(1)...3 {
            #expect(unread.sent(serial, to: client, isCall: true) == [])
            #expect(!unread.isForgotten(client))
            #expect(
                unread.unanswered(serial, by: client)
                    == (serial == 3 ? [.forget(client, .unansweredCalls)] : []))
        }
        #expect(unread.isForgotten(client))
        #expect(!unread.isForgotten(":1.8"))
    }

    @Test("an answer in between starts the count anew, an error too")
    func answer() {
        var unread = UnreadMessages()
        for serial in UInt32(1)...20 {
            _ = unread.sent(serial, to: client, isCall: true)
            if serial % 3 == 0 {
                unread.answered(serial, by: client)
            } else {
                #expect(unread.unanswered(serial, by: client) == [])
            }
        }
        #expect(!unread.isForgotten(client))
    }

    @Test("whoever was sent much is asked whether it is there, once at a time")
    func ping() {
        var unread = UnreadMessages()
        #expect(send(31, to: &unread) == [])
        #expect(send(1, from: 32, to: &unread) == [.ping(client)])
        #expect(unread.sent(33, to: client, isCall: true) == [])
        #expect(send(100, from: 34, to: &unread) == [])
        unread.answered(33, by: client)
        // What was sent after the question is still unread.
        #expect(unread.sent(134, to: client, isCall: false) == [.ping(client)])
    }

    @Test("64 messages and no answer end the patience, fewer do not")
    func outstanding() {
        for count in [63, 64] {
            var unread = UnreadMessages()
            _ = send(32, to: &unread)
            #expect(unread.sent(33, to: client, isCall: true) == [])
            _ = send(count - 33, from: 34, to: &unread)
            #expect(
                unread.unanswered(33, by: client)
                    == (count == 64 ? [.forget(client, .unreadMessages(64))] : []))
            #expect(unread.isForgotten(client) == (count == 64))
        }
    }

    @Test("a flood ends it without waiting for an answer")
    func flood() {
        var unread = UnreadMessages()
        #expect(send(1025, to: &unread) == [.ping(client), .forget(client, .unreadMessages(1025))])
        #expect(unread.isForgotten(client))
        #expect(send(2000, from: 1026, to: &unread) == [])
    }

    @Test("whoever asks to be told of things again, or is another one, is not held to the past")
    func welcome() {
        var unread = UnreadMessages()
        _ = send(1025, to: &unread)
        unread.welcome(client)
        #expect(!unread.isForgotten(client))
        #expect(send(31, to: &unread) == [])
        // An unnecessary welcome changes nothing: what is unread remains unread.
        unread.welcome(client)
        #expect(send(1, from: 32, to: &unread) == [.ping(client)])
        unread.vanished(client)
        #expect(send(31, from: 33, to: &unread) == [])
    }

    @Test("an answer that comes too late is one all the same")
    func tooLate() {
        var unread = UnreadMessages()
        for serial in UInt32(1)...20 {
            _ = unread.sent(serial, to: client, isCall: true)
            #expect(unread.unanswered(serial, by: client) == [])
            unread.answered(serial, by: client)
            unread.answered(serial, by: client)
        }
        #expect(!unread.isForgotten(client))
        // Answers to questions that were never asked do not help.
        for serial in UInt32(21)...23 {
            _ = unread.sent(serial, to: client, isCall: true)
            unread.answered(serial + 100, by: client)
            #expect(
                unread.unanswered(serial, by: client)
                    == (serial == 23 ? [.forget(client, .unansweredCalls)] : []))
        }
    }

    @Test("a call that nobody waits for any more counts neither way")
    func abandoned() {
        var unread = UnreadMessages()
        for serial in UInt32(1)...10 {
            _ = unread.sent(serial, to: client, isCall: true)
            unread.abandoned(serial, to: client)
            #expect(unread.unanswered(serial, by: client) == [])
        }
        unread.abandoned(1, to: ":1.99")
        #expect(!unread.isForgotten(client))
    }

    @Test("answers to no call, or that come twice, change nothing")
    func late() {
        var unread = UnreadMessages()
        unread.answered(1, by: client)
        #expect(unread.unanswered(1, by: client) == [])
        _ = unread.sent(1, to: client, isCall: true)
        #expect(unread.unanswered(1, by: client) == [])
        #expect(unread.unanswered(1, by: client) == [])
        #expect(unread.unanswered(1, by: client) == [])
        #expect(!unread.isForgotten(client))
    }

    @Test("one that reads is never forgotten, whatever it is sent in whatever order", arguments: 0..<20)
    func reader(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var unread = UnreadMessages()
        var calls: [UInt32] = []
        for serial in UInt32(1)...2000 {
            let isCall = Bool.random(using: &random)
            let actions = unread.sent(serial, to: client, isCall: isCall)
            #expect(actions.allSatisfy { $0 == .ping(client) })
            if isCall || actions.contains(.ping(client)) { calls.append(serial) }
            // The reader is up to twenty messages behind.
            while let first = calls.first, first + UInt32.random(in: 0..<20, using: &random) < serial {
                unread.answered(calls.removeFirst(), by: client)
            }
        }
        #expect(!unread.isForgotten(client))
    }
}
