// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffSettingsModel
import HandoffStatus
import Testing

/// What is open at another device, as the user sees and continues it.
struct EverythingTests {
    private let listing = Request.listActivities(Samples.device)
    private let runPath: ObjectPath = "/org/example/Handoff/continuing/1"

    /// What the device has listed: the activities of these numbers, the second of which nothing here continues.
    private func listed(_ numbers: Int...) throws -> Outcome {
        .listed(
            try numbers.map { number in
                let path = try Samples.offerPath(number)
                let isPossible = number != 2
                let properties: [String: Value] = [
                    "Title": .string("Title \(number)"), "ApplicationId": .string("com.example.origin"),
                    "Handlers": .strings(isPossible ? ["org.example.Editor"] : []),
                    "LastUsed": .int64(Samples.now - 120_000_000), "Listed": .boolean(true),
                    "Obstacle": .string(isPossible ? "" : "Nothing here continues it. Install Origin."),
                ]
                return try #require(RemoteOffer(path, ["org.example.Handoff.RemoteActivity": properties]))
            })
    }

    /// What the daemons say while the activities with these numbers are continued, or were; nobody does if it is nil.
    private func report(_ states: [(Int, String)]?) throws -> StatusReport {
        guard let states else { return StatusReport(bridge: .running(Samples.bridge(try Samples.device()))) }
        let results = try states.map { number, state in
            Value.properties([
                "Activity": .objectPath(try Samples.offerPath(number)), "State": .string(state),
                "Title": .string("Title \(number)"), "DeviceName": .string("desk"),
                "ApplicationId": .string("org.example.Editor"),
                "ErrorName": .string(
                    state == "failed" ? "org.example.Handoff.Error.ApplicationFailed" : ""),
                "Message": .string(
                    state == "failed"
                        ? "org.example.Editor did not continue \"Title \(number)\": It is full." : ""),
            ])
        }
        func count(_ state: String) -> Value { .uint32(UInt32(states.count { $0.1 == state })) }
        let objects: ManagedObjects = [
            runPath: [
                "org.example.Handoff.ContinueAll": [
                    "Total": .uint32(UInt32(states.count)), "Done": count("continued"),
                    "Failed": count("failed"), "Results": try .array(of: "a{sv}", results),
                ]
            ]
        ]
        return Samples.report(
            Samples.broker(states.isEmpty ? [:] : objects), Samples.bridge(try Samples.device()))
    }

    /// What is known once the device has listed the activities of these numbers.
    private func shown(_ outcome: Outcome) throws -> Everything {
        var everything = Everything(Samples.device)
        #expect(everything.take(try report([])) == [listing])
        everything.finish(listing, outcome, at: Samples.now)
        return everything
    }

    private func page(_ everything: Everything) -> EverythingPage {
        EverythingPage(everything, at: Samples.now, Samples.names)
    }

    @Test("the device is asked once, as soon as the daemons have said something, and the page has its name")
    func asking() throws {
        var everything = Everything(Samples.device)
        #expect(page(everything).place == .waiting && everything.list().isEmpty)
        #expect(everything.take(try report([])) == [listing])
        #expect(everything.take(try report([])).isEmpty && everything.list().isEmpty)
        #expect(page(everything).title == "Everything on desk")
        everything.finish(listing, try listed(), at: Samples.now)
        #expect(page(everything).place == .empty && page(everything).action == .begin(0))
    }

    @Test("what is open is ticked, but for what cannot be continued here, which says why")
    func open() throws {
        let page = page(try shown(try listed(1, 2, 3)))
        #expect(page.place == .list && page.action == .begin(2) && page.standing.isEmpty)
        #expect(page.rows.map(\.title) == ["Title 1", "Title 2", "Title 3"])
        #expect(page.rows.map(\.isTicked) == [true, false, true])
        #expect(page.rows.map(\.canTick) == [true, false, true])
        #expect(page.rows[0].detail == "Editor · 2 minutes ago")
        #expect(page.rows[0].pictures == ["org.example.Editor", "com.example.origin"])
        #expect(
            page.rows[1].detail
                == "com.example.origin · 2 minutes ago\nNothing here continues it. Install Origin.")
    }

    @Test("why a device does not list is a sentence, and it can be asked again; what was seen before stays")
    func refused() throws {
        var everything = try shown(.failed(name: "x.NotSupported", message: "It is too old."))
        #expect(page(everything).place == .refused && page(everything).reason == "It is too old.")
        #expect(page(everything).action == .again)
        #expect(everything.remainingTime(at: Samples.now + 3_600_000_000) == nil)
        #expect(everything.list() == [listing])
        everything.finish(listing, try listed(1), at: Samples.now)
        #expect(page(everything).place == .list && page(everything).reason.isEmpty)
        _ = everything.list()
        everything.finish(listing, .failed(name: "", message: "It is away."), at: Samples.now)
        #expect(page(everything).place == .list && page(everything).reason == "It is away.")
        #expect(page(everything).rows.count == 1 && page(everything).action == .again)
    }

    @Test("a list is asked for again after 45 seconds at the earliest, and not while something is continued")
    func patience() throws {
        var everything = try shown(try listed(1))
        let later = Samples.now + Everything.patience
        #expect(everything.look(at: later - 1).isEmpty)
        #expect(everything.remainingTime(at: later - 1) == 1)
        #expect(everything.look(at: later) == [listing])
        #expect(everything.look(at: later + 1).isEmpty)
        everything.finish(listing, try listed(1), at: later)
        #expect(everything.look(at: later + 1).isEmpty)
        // A clock that was set back makes no list good for hours.
        #expect(everything.remainingTime(at: later - 3_600_000_000) == 0)
        _ = everything.begin(token: "")
        #expect(everything.look(at: later + Everything.patience).isEmpty && !everything.canList)
    }

    @Test("what was ticked stays so in a new list, and what has gone says that once")
    func listedAgain() throws {
        var everything = try shown(try listed(1, 3, 4))
        everything.tick(try Samples.offerPath(3), false)
        #expect(page(everything).action == .begin(2))
        _ = everything.list()
        everything.finish(listing, try listed(5, 3, 4), at: Samples.now)
        let rows = page(everything).rows
        #expect(rows.map(\.title) == ["Title 5", "Title 3", "Title 4", "Title 1"])
        #expect(rows.map(\.isTicked) == [true, false, true, false])
        #expect(rows[3].detail.hasSuffix("\nNo longer open") && !rows[3].canTick)
        _ = everything.list()
        everything.finish(listing, try listed(5, 3, 4), at: Samples.now)
        #expect(page(everything).rows.count == 3)
    }

    @Test(
        "what is ticked is continued, what was used last as the last one, and each says what has become of it"
    )
    func running() throws {
        var everything = try shown(try listed(1, 2, 3, 4))
        everything.tick(try Samples.offerPath(3), false)
        let paths = try [4, 1].map { try Samples.offerPath($0) }
        let request = Request.continueAll(paths, token: "t")
        #expect(everything.begin(token: "t") == [request])
        #expect(everything.begin(token: "t").isEmpty, "it is under way")
        #expect(page(everything).action == .cancel(isPossible: false) && everything.cancel().isEmpty)
        everything.finish(request, .began(runPath), at: Samples.now)
        #expect(everything.take(try report([(1, "continuing"), (4, "waiting")])).isEmpty)
        var now = page(everything)
        #expect(now.action == .cancel(isPossible: true) && now.standing == "0 of 2 continued")
        #expect(now.rows[0].detail.hasSuffix("\nContinuing…") && now.rows.allSatisfy { !$0.canTick })
        #expect(now.showsOutcome && everything.cancel() == [.cancelAll(runPath)])
        _ = everything.take(try report([(1, "continued"), (4, "failed")]))
        now = page(everything)
        #expect(now.standing == "1 of 2 continued" && now.showsOutcome)
        #expect(now.rows[0].detail.hasSuffix("\nContinued"))
        #expect(now.rows.map(\.isContinued) == [true, false, false, false])
        #expect(now.rows[3].detail.hasSuffix("\nThe application could not do it. “It is full.”"))
        // What has failed can be tried again at once; what goes on here is not continued twice.
        #expect(now.action == .begin(1) && now.rows.map(\.isTicked) == [false, false, false, true])
        // The broker forgets it after a minute.
        _ = everything.take(try report([]))
        #expect(page(everything).standing == "1 of 2 continued")
    }

    @Test("that nothing was begun says why, and what was ticked stays so")
    func notBegun() throws {
        var everything = try shown(try listed(1))
        let requests = everything.begin(token: "")
        everything.finish(try #require(requests.first), .failed(name: "", message: "It is off."), at: 0)
        #expect(page(everything).standing == "It is off." && page(everything).action == .begin(1))
        #expect(!page(everything).showsOutcome)
    }

    @Test("a broker that ends while it continues leaves what it has said last", arguments: [true, false])
    func brokerEnds(_ isThereAnother: Bool) throws {
        var everything = try shown(try listed(1, 3))
        let requests = everything.begin(token: "")
        everything.finish(try #require(requests.first), .began(runPath), at: Samples.now)
        _ = everything.take(try report([(1, "continued"), (3, "continuing")]))
        _ = everything.take(try report(isThereAnother ? [] : nil))
        let page = page(everything)
        #expect(page.standing == "1 of 2 continued" && page.action == .begin(1))
        #expect(page.rows[0].detail.hasSuffix("\nContinued"))
        #expect(page.rows[1].detail.hasSuffix("\nHandoff has ended meanwhile. Try again once it runs."))
    }

    @Test("what has begun and was not told of yet is waited for")
    func early() throws {
        var everything = try shown(try listed(1))
        let requests = everything.begin(token: "")
        everything.finish(try #require(requests.first), .began(runPath), at: Samples.now)
        _ = everything.take(try report([]))
        #expect(page(everything).standing == "Continuing…" && everything.isRunning)
        _ = everything.take(try report([(1, "continued")]))
        #expect(page(everything).standing == "1 of 1 continued" && !everything.isRunning)
    }

    @Test(
        "what others chose stays within its place",
        arguments: ["<b>bold</b>", "a\nb\u{2028}c", "\u{202E}evil", String(repeating: "x", count: 10_000)])
    func hostile(_ text: String) throws {
        let offer = try #require(
            RemoteOffer(
                try Samples.offerPath(),
                [
                    "org.example.Handoff.RemoteActivity": [
                        "Title": .string(text), "Obstacle": .string(text), "ApplicationId": .string(text),
                    ]
                ]))
        let row = try #require(page(try shown(.listed([offer]))).rows.first)
        for line in [row.title] + row.detail.split(separator: "\n").map({ String($0) }) {
            #expect(line.count < 600 && !line.unicodeScalars.contains("\u{202E}"))
        }
        #expect(row.detail.count { $0.isNewline } == 1)
    }
}
