// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("Connections that do not read")
struct ReadersTests {
    private let client = ":1.7"

    /// `count` signals, the first of them number `first`.
    private func send(_ count: Int, from first: UInt32 = 1, to readers: inout Readers) -> [Readers.Action] {
        (0..<UInt32(count)).flatMap { readers.sent(first + $0, to: client, isCall: false) }
    }

    @Test("three calls in a row that are not answered end the patience")
    func calls() {
        var readers = Readers()
        for serial in UInt32(1)...3 {
            #expect(readers.sent(serial, to: client, isCall: true) == [])
            #expect(!readers.isForgotten(client))
            #expect(
                readers.unanswered(serial, by: client)
                    == (serial == 3 ? [.forget(client, .unansweredCalls)] : []))
        }
        #expect(readers.isForgotten(client))
        #expect(!readers.isForgotten(":1.8"))
    }

    @Test("an answer in between starts the count anew, an error too")
    func answer() {
        var readers = Readers()
        for serial in UInt32(1)...20 {
            _ = readers.sent(serial, to: client, isCall: true)
            if serial % 3 == 0 {
                readers.answered(serial, by: client)
            } else {
                #expect(readers.unanswered(serial, by: client) == [])
            }
        }
        #expect(!readers.isForgotten(client))
    }

    @Test("whoever was sent much is asked whether it is there, once at a time")
    func ping() {
        var readers = Readers()
        #expect(send(31, to: &readers) == [])
        #expect(send(1, from: 32, to: &readers) == [.ping(client)])
        #expect(readers.sent(33, to: client, isCall: true) == [])
        #expect(send(100, from: 34, to: &readers) == [])
        readers.answered(33, by: client)
        // What was sent after the question is still unread.
        #expect(readers.sent(134, to: client, isCall: false) == [.ping(client)])
    }

    @Test("64 messages and no answer end the patience, fewer do not")
    func outstanding() {
        for count in [63, 64] {
            var readers = Readers()
            _ = send(32, to: &readers)
            #expect(readers.sent(33, to: client, isCall: true) == [])
            _ = send(count - 33, from: 34, to: &readers)
            #expect(
                readers.unanswered(33, by: client)
                    == (count == 64 ? [.forget(client, .unreadMessages(64))] : []))
            #expect(readers.isForgotten(client) == (count == 64))
        }
    }

    @Test("a flood ends it without waiting for an answer")
    func flood() {
        var readers = Readers()
        #expect(send(1025, to: &readers) == [.ping(client), .forget(client, .unreadMessages(1025))])
        #expect(readers.isForgotten(client))
        #expect(send(2000, from: 1026, to: &readers) == [])
    }

    @Test("whoever asks to be told of things again, or is another one, is not held to the past")
    func welcome() {
        var readers = Readers()
        _ = send(1025, to: &readers)
        readers.welcome(client)
        #expect(!readers.isForgotten(client))
        #expect(send(31, to: &readers) == [])
        // An unnecessary welcome changes nothing: what is unread remains unread.
        readers.welcome(client)
        #expect(send(1, from: 32, to: &readers) == [.ping(client)])
        readers.vanished(client)
        #expect(send(31, from: 33, to: &readers) == [])
    }

    @Test("an answer that comes too late is one all the same")
    func tooLate() {
        var readers = Readers()
        for serial in UInt32(1)...20 {
            _ = readers.sent(serial, to: client, isCall: true)
            #expect(readers.unanswered(serial, by: client) == [])
            readers.answered(serial, by: client)
            readers.answered(serial, by: client)
        }
        #expect(!readers.isForgotten(client))
        // Answers to questions that were never asked do not help.
        for serial in UInt32(21)...23 {
            _ = readers.sent(serial, to: client, isCall: true)
            readers.answered(serial + 100, by: client)
            #expect(
                readers.unanswered(serial, by: client)
                    == (serial == 23 ? [.forget(client, .unansweredCalls)] : []))
        }
    }

    @Test("a call that nobody waits for any more counts neither way")
    func abandoned() {
        var readers = Readers()
        for serial in UInt32(1)...10 {
            _ = readers.sent(serial, to: client, isCall: true)
            readers.abandoned(serial, to: client)
            #expect(readers.unanswered(serial, by: client) == [])
        }
        readers.abandoned(1, to: ":1.99")
        #expect(!readers.isForgotten(client))
    }

    @Test("answers to no call, or that come twice, change nothing")
    func late() {
        var readers = Readers()
        readers.answered(1, by: client)
        #expect(readers.unanswered(1, by: client) == [])
        _ = readers.sent(1, to: client, isCall: true)
        #expect(readers.unanswered(1, by: client) == [])
        #expect(readers.unanswered(1, by: client) == [])
        #expect(readers.unanswered(1, by: client) == [])
        #expect(!readers.isForgotten(client))
    }

    @Test("one that reads is never forgotten, whatever it is sent in whatever order", arguments: 0..<20)
    func reader(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var readers = Readers()
        var calls: [UInt32] = []
        for serial in UInt32(1)...2000 {
            let isCall = Bool.random(using: &random)
            let actions = readers.sent(serial, to: client, isCall: isCall)
            #expect(actions.allSatisfy { $0 == .ping(client) })
            if isCall || actions.contains(.ping(client)) { calls.append(serial) }
            // The reader is up to twenty messages behind.
            while let first = calls.first, first + UInt32.random(in: 0..<20, using: &random) < serial {
                readers.answered(calls.removeFirst(), by: client)
            }
        }
        #expect(!readers.isForgotten(client))
    }
}
