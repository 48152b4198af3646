// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffSettingsModel
import HandoffStatus
import Testing

/// What is visible in the window, derived from what the daemons say.
struct WindowContentTests {
    @Test("an empty page says what there is to do next")
    func empty() throws {
        typealias Case = (StatusReport?, ContinuePage.Empty?)
        let peers = Samples.bridge(try Samples.device())
        let cases: [Case] = [
            (nil, .waiting),
            (StatusReport(), .stopped),
            (StatusReport(broker: .running(Samples.broker())), .stopped),
            (Samples.report(), .noDevices),
            (Samples.report(Samples.broker(enabled: false), peers), .switchedOff),
            (Samples.report(Samples.broker(), peers), .nothing),
            (Samples.report(Samples.broker(try Samples.offer()), peers), nil),
        ]
        for (report, empty) in cases { #expect(Samples.content(report).continuing.empty == empty) }
    }

    @Test(
        "where there is nothing to continue, the applications that take part are named: none that is kept out"
    )
    func participants() throws {
        let peers = Samples.bridge(try Samples.device())
        let preferences: [String: Value] = [
            "DisabledAdapters": .strings(["media"]), "ExcludedApplications": .strings(["org.example.Other"]),
        ]
        let adapters = [
            Adapter(id: "web", name: "Web", applications: ["org.example.Other", "org.example.Editor"]),
            Adapter(id: "media", name: "Media", applications: ["org.example.Player"]),
        ]
        let report = Samples.report(Samples.broker(preferences: preferences), peers)
        let page = Samples.content(report) { $0.take(adapters) }.continuing
        #expect(page.participants.map(\.id) == ["org.example.Editor"])
        let full = Samples.report(Samples.broker(try Samples.offer(), preferences: preferences), peers)
        #expect(Samples.content(full) { $0.take(adapters) }.continuing.participants.isEmpty)
    }

    @Test("an offer shows what it is, where it is, since when, and who can continue it")
    func offer() throws {
        let page = Samples.content(Samples.report(Samples.broker(try Samples.offer()))).continuing
        let card = try #require(page.offers.first)
        #expect(card.title == "Shopping")
        #expect(card.device == "desk")
        #expect(card.detail == "Editor · 2 minutes ago")
        #expect(card.handlers.map(\.name) == ["Editor", "org.example.Other"])
        #expect(card.pictures == ["org.example.Editor", "com.example.origin"])
        #expect(card.standing == .available)
    }

    @Test(
        "what others chose stays within its place",
        arguments: [
            "<b>bold</b>", "a\nb\u{2028}c", "\u{202E}evil", String(repeating: "x", count: 10_000),
            "“quoted” \"",
        ])
    func hostile(_ title: String) throws {
        let page = Samples.content(Samples.report(Samples.broker(try Samples.offer(title: title)))).continuing
        let shown = try #require(page.offers.first).title
        #expect(shown.count <= 120)
        #expect(!shown.contains { $0.isNewline || "“”\"".contains($0) })
        #expect(!shown.unicodeScalars.contains("\u{202E}"))
    }

    @Test(
        "a continuation is shown while it runs, and its failure until it is tried again or the offer is gone")
    func attempts() throws {
        let path = try Samples.offerPath()
        var state = WindowState()
        let offered = Samples.report(Samples.broker(try Samples.offer()))
        state.take(offered)
        func standing() -> OfferCard.Standing? {
            WindowContent(state, at: Samples.now, Samples.names).continuing.offers.first?.standing
        }
        let first = state.continueOffer(at: path, in: "org.example.Other", token: "t")
        #expect(first == .continueOffer(path, application: "org.example.Other", token: "t"))
        #expect(standing() == .continuing(nil))
        #expect(state.continueOffer(at: path, in: nil, token: "") == nil)
        #expect(state.finish(path, .failed(name: "x.Failed", message: "No.")) == nil)
        #expect(standing() == .failed("No."))
        // It is tried again in the application that was chosen.
        let second = state.continueOffer(at: path, in: nil, token: "")
        #expect(second == .continueOffer(path, application: "org.example.Other", token: ""))
        #expect(state.finish(path, .failed(name: "org.example.Handoff.Error.Cancelled", message: "C")) == nil)
        #expect(standing() == .available)
        _ = state.continueOffer(at: path, in: nil, token: "")
        #expect(state.finish(path, .done) == nil)
        #expect(standing() == .available)
        _ = state.continueOffer(at: path, in: nil, token: "")
        _ = state.finish(path, .failed(name: "", message: "No."))
        state.take(Samples.report())
        state.take(offered)
        #expect(standing() == .available)
        // An offer that has ended has no place of its own for why: the page says it, until something else is tried.
        func lost() -> Attempts.Lost? { WindowContent(state, at: Samples.now, Samples.names).continuing.lost }
        #expect(lost()?.reason == "No.")
        _ = state.continueOffer(at: path, in: nil, token: "")
        #expect(lost() == nil)
        state.take(Samples.report())
        #expect(state.finish(path, .failed(name: "", message: "Gone.")) == nil)
        #expect(lost()?.title == "Shopping" && lost()?.reason == "Gone.")
        // Where others are offered, there is no page for it.
        state.take(offered)
        _ = state.continueOffer(at: path, in: nil, token: "")
        state.take(Samples.report(Samples.broker(try Samples.offer(2))))
        #expect(state.finish(path, .failed(name: "", message: "Gone.")) == "Gone.")
    }

    @Test("progress is shown, whoever has begun the continuation")
    func progress() throws {
        for (progress, expected) in [(0.25, 0.25), (-1, nil)] as [(Double, Double?)] {
            let objects = try Samples.offer(state: "continuing", progress: progress)
            let card = Samples.content(Samples.report(Samples.broker(objects))).continuing.offers.first
            #expect(card?.standing == .continuing(expected))
        }
    }

    @Test("what is wrong has a button where something can be done at once, and says what to do where not")
    func bars() throws {
        let off = Samples.report(Samples.broker(enabled: false))
        let first = try #require(Samples.content(off).bars.first)
        #expect(first.button == "Switch On")
        #expect(first.request == .setPreference("Enabled", .boolean(true)))
        #expect(first.remedy.isEmpty)
        let dead = StatusReport(
            broker: .absent(canStart: true), bridge: .running(Samples.bridge(try Samples.device())))
        #expect(Samples.content(dead).bars.map(\.request) == [.startBroker])
        let gone = StatusReport(
            broker: .absent(canStart: false), bridge: .running(Samples.bridge(try Samples.device())))
        let bar = try #require(Samples.content(gone).bars.first)
        #expect(bar.button.isEmpty && !bar.remedy.isEmpty)
        let bus = try #require(Samples.content(StatusReport(busFailure: "Log in.")).bars.first)
        #expect(bus.remedy == "Log in.")
        let away = Samples.bridge(try Samples.device(connected: false, problem: "It is asleep"))
        let address = try #require(Samples.content(Samples.report(Samples.broker(), away)).bars.first)
        #expect(address.button == "Connect by Address…")
        #expect(address.remedy.isEmpty)
        let blind = Samples.bridge(
            [:], ["DiscoveryError": .string("Avahi is not running."), "DiscoveryErrorName": .string("x.y")])
        let bars = Samples.content(Samples.report(Samples.broker(), blind)).bars
        #expect(
            bars.contains { $0.button == address.button && $0.remedy.hasPrefix("Install and start avahi") })
    }

    @Test("what a page says in its own place is in no bar")
    func noBars() throws {
        #expect(Samples.content(Samples.report()).bars.isEmpty)
        let away = Samples.bridge(try Samples.device(connected: false, problem: "It is asleep"))
        let content = Samples.content(Samples.report(Samples.broker(), away))
        // With no device connected nothing can be continued at all.
        #expect(
            content.bars.map(\.text) == [
                "There is no connection to “desk”. It may be off, asleep or in another network."
            ])
        #expect(content.bars.map(\.mend) == [.connect])
        let one = try Samples.device(connected: false)
        let both = Samples.bridge(
            one.merging(try Samples.device(Samples.other, name: "pad")) { first, _ in first })
        #expect(Samples.content(Samples.report(Samples.broker(), both)).bars.isEmpty)
        let row = try #require(content.devices.peers.first)
        #expect(row.standing == "Last connected 2 hours ago")
        #expect(row.problem == "It may be off, asleep or in another network.")
        #expect(row.address.isEmpty)
    }

    @Test("that a device sleeps which has left something here is said, and is no problem")
    func asleep() throws {
        let since = Samples.now - 60_000_000
        func bridge(_ since: Int64) throws -> BridgeStatus {
            Samples.bridge(
                try Samples.device(connected: false, problem: "It was not reached.", asleepSince: since))
        }
        let away = try bridge(since)
        let broker = Samples.broker(try Samples.offer(parkedAt: since))
        let content = Samples.content(Samples.report(broker, away))
        #expect(content.bars.isEmpty)
        let (row, offer) = (
            try #require(content.devices.peers.first), try #require(content.continuing.offers.first)
        )
        #expect(row.standing.hasPrefix("Asleep since ") && row.problem.isEmpty)
        #expect(offer.device.hasPrefix("desk, asleep since "))
        // What else was open there is here, too, also once what was offered was continued.
        #expect(row.canList && offer.everything == "Everything on desk…")
        #expect(Samples.content(Samples.report(Samples.broker(), away)).devices.peers.first?.canList == true)
        let none = Samples.content(Samples.report(broker, try bridge(0))).devices.peers.first
        #expect(none?.canList == false)
    }

    @Test("what one continuation has fetched is one row, and another one's is another")
    func occasions() throws {
        func fetch(_ kind: String, _ seconds: Int64, _ title: String = "Thesis") -> Value {
            .properties([
                "Kind": .string(kind), "Time": .int64(Samples.now + seconds * 1_000_000),
                "Title": .string(title), "DeviceId": .string(Samples.device), "DeviceName": .string("desk"),
                "ApplicationId": .string("org.example.Editor"),
            ])
        }
        let fetches = [
            fetch("stream", -5), fetch("document", -6), fetch("activity", -7), fetch("activity", -9),
            fetch("document", -10, "Letter"), fetch("activity", -11, "Letter"), fetch("stream", -200),
            fetch("activity", -400),
        ]
        let report = Samples.report(
            Samples.broker(more: ["RecentFetches": try .array(of: "a{sv}", fetches)]))
        let rows = Samples.content(report).activity.recent
        #expect(rows.map(\.title) == ["Thesis", "Thesis", "Letter", "Thesis", "Thesis"])
        #expect(rows[0].detail.contains("the document · a stream") && rows[2].detail.contains("the document"))
        #expect(!rows[1].detail.contains("document"))
    }

    @Test("which devices have listed what is open here is shown, with what that was, and when")
    func listings() throws {
        let titles = ["Thesis", "“Letter”"] + (0..<5).map { "Page \($0)" }
        let listings = [(Samples.device, titles), (Samples.other, [])].map { id, titles in
            Value.properties([
                "DeviceId": .string(id), "DeviceName": .string(id == Samples.device ? "desk" : ""),
                "Time": .int64(Samples.now - 120_000_000), "Titles": .strings(titles),
            ])
        }
        let report = Samples.report(
            Samples.broker(more: ["ListingsByDevice": try .array(of: "a{sv}", listings)]))
        let page = Samples.content(report).activity
        #expect(!page.isEmpty && page.listings.map(\.name) == ["desk", String(Samples.other.prefix(8))])
        #expect(
            page.listings.map(\.detail) == [
                "“Thesis”, “'Letter'”, “Page 0”, “Page 1”, “Page 2”, … · 2 minutes ago",
                "Nothing was open · 2 minutes ago",
            ])
    }

    @Test("an offer leads to what else is open at its device, as long as that is connected")
    func everything() throws {
        for (isConnected, label) in [(true, "Everything on desk…"), (false, "")] {
            let bridge = Samples.bridge(try Samples.device(connected: isConnected))
            let report = Samples.report(Samples.broker(try Samples.offer()), bridge)
            let card = try #require(Samples.content(report).continuing.offers.first)
            #expect(card.everything == label && card.deviceID == Samples.device)
        }
    }

    @Test("a connected device says since when, and over what")
    func connected() throws {
        let content = Samples.content(Samples.report(Samples.broker(), Samples.bridge(try Samples.device())))
        let row = try #require(content.devices.peers.first)
        #expect(row.standing == "Connected for 3 minutes")
        #expect(row.address == "192.0.2.1:4321")
        #expect(row.problem.isEmpty)
        let far = Samples.bridge(try Samples.device(way: "other-network"))
        let there = try #require(Samples.content(Samples.report(Samples.broker(), far)).devices.peers.first)
        #expect(there.address == "192.0.2.1:4321, over another network")
        let carried = Samples.bridge(try Samples.device(way: "carried", address: "by ssh"))
        let behind = try #require(
            Samples.content(Samples.report(Samples.broker(), carried)).devices.peers.first)
        #expect(behind.address == "By ssh")
    }

    /// The page with a device that the peer “desk” introduces, and that is announced too.
    private func introducing(_ state: String, name: String = "pad", connected: Bool = false) throws
        -> DevicesPage
    {
        let introduced = try Samples.device(
            Samples.other, name: name, paired: state == "accepted", connected: connected,
            introducedBy: [Samples.device], introduction: state)
        let nearby = try Value.array(
            of: "a{sv}",
            [.properties(["Name": .string(name), "Addresses": .strings(["192.0.2.1:7"])])])
        let devices = try Samples.device().merging(introduced) { first, _ in first }
        return Samples.content(Samples.report(Samples.broker(), Samples.bridge(devices, ["Nearby": nearby])))
            .devices
    }

    @Test("an introduced device is shown once, with who says so, until the user has answered")
    func introduced() throws {
        for connected in [false, true] {
            let page = try introducing("offered", connected: connected)
            let row = try #require(page.introduced.first)
            #expect(row.name == "pad")
            #expect(row.says == "“desk” says that this is one of your devices.")
            #expect(row.agree.request == .acceptIntroduction(Samples.other))
            #expect(row.refuse.request == .declineIntroduction(Samples.other))
            #expect(page.nearby.isEmpty && page.asks)
            // It can still be looked for.
            let declined = try introducing("declined", connected: connected)
            #expect(declined.introduced.isEmpty && !declined.asks)
            #expect(declined.nearby.map(\.name) == ["pad"])
        }
        let accepted = try introducing("accepted")
        let row = try #require(accepted.peers.first { $0.id == Samples.other })
        #expect(row.standing == "Accepted here. Accept this device there, too.")
        #expect(row.awaitsAcceptance && row.problem.isEmpty)
        #expect(accepted.introduced.isEmpty)
    }

    @Test(
        "the names of introduced devices stay in their place", arguments: ["<b>x</b>", "“x” \n y", "123 456"])
    func introducedNames(_ name: String) throws {
        let row = try #require(try introducing("offered", name: name).introduced.first)
        #expect(!row.name.contains { $0.isNewline || "“”".contains($0) })
        #expect(row.name.count { $0.isNumber } < 6)
        #expect(row.says.count { "“”".contains($0) } == 2)
    }

    @Test("a peer that others have unpaired is asked about")
    func retracted() throws {
        let old = try Samples.device(Samples.other, name: "old", retractedBy: [Samples.device])
        let devices = try Samples.device().merging(old) { first, _ in first }
        let page = Samples.content(Samples.report(Samples.broker(), Samples.bridge(devices))).devices
        let row = try #require(page.retracted.first)
        #expect(page.retracted.count == 1 && page.peers.count == 2 && page.asks)
        #expect(row.says == "“desk” no longer counts “old” among your devices.")
        #expect(row.agree.request == .unpair(Samples.other))
        #expect(row.refuse.request == .keepPairing(Samples.other))
    }

    @Test("a device that asks is shown apart, and one that is announced and connected once")
    func strangers() throws {
        let nearby = try Value.array(
            of: "a{sv}",
            [("phone", "192.0.2.9:1"), ("pad", "192.0.2.1:7")].map {
                .properties(["Name": .string($0.0), "Addresses": .strings([$0.1])])
            })
        let asking = try Samples.device(
            Samples.other, name: "pad", paired: false, state: "waiting", asked: true)
        let page = Samples.content(
            Samples.report(Samples.broker(), Samples.bridge(asking, ["Nearby": nearby]))
        ).devices
        #expect(page.asking.map(\.name) == ["pad"])
        #expect(page.nearby.map(\.name) == ["phone"])
        #expect(page.peers.isEmpty)
        let asked = try Samples.device(Samples.other, name: "pad", paired: false, state: "waiting")
        let other = Samples.content(Samples.report(Samples.broker(), Samples.bridge(asked))).devices
        #expect(other.asking.isEmpty, "it does not ask: it was asked")
        #expect(other.nearby.map(\.name) == ["pad"])
        // Where a device is says something only if another one has its name.
        #expect(page.nearby.map(\.address) == [""])
        let twins = try Value.array(
            of: "a{sv}",
            ["192.0.2.9:1", "192.0.2.8:1"].map {
                .properties(["Name": .string("phone"), "Addresses": .strings([$0])])
            })
        let two = Samples.content(Samples.report(Samples.broker(), Samples.bridge([:], ["Nearby": twins])))
            .devices
        #expect(two.nearby.map(\.address) == ["192.0.2.9:1", "192.0.2.8:1"])
    }
}
