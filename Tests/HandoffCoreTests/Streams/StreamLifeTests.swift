// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("The life of a stream")
struct StreamLifeTests {
    /// Handles all events with a new stream, and returns everything that is to be done.
    private func run(_ events: [StreamLife.Event]) -> [StreamLife.Action] {
        var life = StreamLife()
        return events.flatMap { life.handle($0) }
    }

    @Test("both directions end, in either order, and then the connection does")
    func complete() {
        for ends in [[.outgoingEnded, .incomingEnded], [.incomingEnded, .outgoingEnded]]
            as [[StreamLife.Event]]
        {
            #expect(run(ends) == [.finish])
            #expect(
                run(ends + [.connectionEnded, .threadEnded, .threadEnded])
                    == [.finish, .stop, .close(isClean: true, .complete)])
            // The other side is quicker, and its kernel reports it as an error.
            #expect(
                run(ends + [.failed("reset"), .threadEnded, .threadEnded])
                    == [.finish, .stop, .close(isClean: true, .complete)])
        }
    }

    @Test("half of it may be over for as long as it likes")
    func halfClosed() {
        #expect(run([.outgoingEnded]) == [])
        #expect(run([.incomingEnded]) == [])
    }

    @Test("an application that closes its end ends it, and is no error")
    func closedHere() {
        let events: [StreamLife.Event] = [.outgoingEnded, .applicationClosed, .failed("cut off")]
        #expect(
            run(events + [.threadEnded, .threadEnded])
                == [.finish, .stop, .close(isClean: false, .closedHere)])
    }

    @Test(
        "when the other application has closed its end, this one cannot write any more, and reads to the end")
    func closedThere() {
        let events: [StreamLife.Event] = [.incomingEnded, .connectionEnded, .threadEnded, .threadEnded]
        #expect(run(events) == [.stop, .close(isClean: true, .closedThere)])
    }

    @Test("whatever else ends it is a break, for the first reason that there was")
    func broken() {
        let cases: [([StreamLife.Event], isClean: Bool)] = [
            ([], false), ([.outgoingEnded], false), ([.incomingEnded], true),
        ]
        for (before, isClean) in cases {
            for reason in [.failed("why"), .cut("why")] as [StreamLife.Event] {
                let events = before + [reason, .failed("later"), .cut("later"), .threadEnded, .threadEnded]
                #expect(run(events) == [.stop, .close(isClean: isClean, .broken("why"))])
            }
        }
    }

    @Test("its end is closed when both threads have ended, not before")
    func threads() {
        #expect(run([.cut("why"), .threadEnded]) == [.stop])
    }
}
