// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Offers of peers")
struct RemoteOffersTests {
    private let device: DeviceID
    private let notes: ApplicationID

    init() throws {
        device = try Example.device(1)
        notes = try Example.application()
    }

    /// Offers of peers, among which the first device offers the activity 1.
    private func offered(host: String? = nil, handlers: [Handler]? = nil) throws -> RemoteOffers {
        var offers = RemoteOffers(isEnabled: true)
        _ = offers.offer(
            try Example.offer(host: host), from: device, handlers: handlers ?? [.application(notes)])
        return offers
    }

    private func entry(_ offers: RemoteOffers, _ number: UInt8 = 1) throws -> RemoteOffers.Entry {
        try #require(offers.entry(try Example.activity(number), of: device))
    }

    @Test("an offer is shown, and no longer once it is withdrawn")
    func offerAndWithdraw() throws {
        var offers = RemoteOffers(isEnabled: true)
        let offer = try Example.offer()
        let actions = offers.offer(offer, from: device, handlers: [.application(notes)])
        #expect(try actions == [.added(entry(offers))])
        #expect(offers.entries.map(\.offer) == [offer])
        #expect(offers.withdraw(offer.id, from: device) == [.removed(device, offer.id)])
        #expect(offers.withdraw(offer.id, from: device) == [])
        #expect(offers.entries.isEmpty)
    }

    @Test("a new activity replaces what a device offered before")
    func replacement() throws {
        var offers = try offered()
        let actions = offers.offer(try Example.offer(2), from: device, handlers: [.application(notes)])
        #expect(try actions == [.removed(device, Example.activity(1)), .added(entry(offers, 2))])
    }

    @Test("the same activity again replaces the summary, but not the date")
    func summary() throws {
        var offers = try offered()
        #expect(
            offers.offer(try Example.offer(since: 7), from: device, handlers: [.application(notes)]) == [])
        let actions = offers.offer(
            try Example.offer(title: "New", since: 9), from: device, handlers: [.application(notes)])
        #expect(try actions == [.changed(entry(offers))])
        #expect(try entry(offers).offer.title == "New")
        #expect(try entry(offers).offer.since == 0)
    }

    @Test("a withdrawal of what is no longer offered changes nothing")
    func staleWithdrawal() throws {
        var offers = try offered()
        #expect(offers.withdraw(try Example.activity(9), from: device) == [])
        #expect(offers.withdraw(try Example.activity(1), from: try Example.device(2)) == [])
        #expect(offers.entries.count == 1)
    }

    @Test("the offer of a peer that is gone is not shown, and those of all when the bridge is")
    func peersGone() throws {
        var offers = try offered()
        _ = offers.offer(try Example.offer(2), from: try Example.device(2), handlers: [.application(notes)])
        #expect(offers.peerRemoved(device) == [.removed(device, try Example.activity(1))])
        #expect(offers.allPeersRemoved() == [.removed(try Example.device(2), try Example.activity(2))])
    }

    @Test(
        "a dismissed offer stays hidden while it changes, and is shown when it is offered anew after it ended"
    )
    func dismissal() throws {
        var offers = try offered()
        let id = try Example.activity(1)
        #expect(try offers.dismiss(id, of: device) == [.removed(device, id)])
        #expect(
            offers.offer(try Example.offer(title: "New"), from: device, handlers: [.application(notes)]) == []
        )
        #expect(code { _ = try offers.dismiss(id, of: device) } == .unknownObject)
        _ = offers.withdraw(id, from: device)
        #expect(offers.offer(try Example.offer(), from: device, handlers: [.application(notes)]).count == 1)
    }

    @Test("a new activity of a device is shown though its former one was dismissed")
    func dismissalEnds() throws {
        var offers = try offered()
        _ = try offers.dismiss(try Example.activity(1), of: device)
        #expect(offers.offer(try Example.offer(2), from: device, handlers: [.application(notes)]).count == 1)
        #expect(offers.offer(try Example.offer(1), from: device, handlers: [.application(notes)]).count == 2)
    }

    @Test("switched off, nothing is shown or accepted until peers say it again")
    func disabled() throws {
        var offers = try offered()
        #expect(offers.setEnabled(false) == [.removed(device, try Example.activity(1))])
        #expect(offers.offer(try Example.offer(2), from: device, handlers: [.application(notes)]) == [])
        #expect(offers.setEnabled(true) == [])
        #expect(offers.offer(try Example.offer(2), from: device, handlers: [.application(notes)]).count == 1)
    }

    @Test(
        "what no application here continues is hidden unless it has a web page or is configured to be shown")
    func unhandled() throws {
        var offers = try offered(handlers: [])
        #expect(offers.entries.isEmpty)
        #expect(offers.setShowsUnhandled(true).count == 2)
        #expect(offers.setShowsUnhandled(false).count == 2)
        #expect(try offered(host: "example.com", handlers: []).entries.count == 1)
    }

    @Test("an offer comes and goes with the applications that can continue it")
    func handlers() throws {
        var offers = try offered(handlers: [])
        #expect(offers.updateHandlers { _ in [.application(notes)] }.count == 2)
        let other = try Example.application("other")
        let actions = offers.updateHandlers { _ in [.application(other), .application(notes)] }
        #expect(try actions == [.changed(entry(offers))])
        #expect(offers.updateHandlers { _ in [.application(other), .application(notes)] } == [])
        #expect(
            offers.updateHandlers { _ in [] } == [
                .removed(device, try Example.activity(1)), .hiddenChanged,
            ])
        #expect(offers.offers.keys.contains(device))
    }

    @Test("an offer that ends while it is being continued is shown until that is over")
    func continuing() throws {
        var offers = try offered()
        let id = try Example.activity(1)
        let actions = offers.setContinuing(true, id, of: device)
        #expect(try actions == [.changed(entry(offers))])
        #expect(try entry(offers).isContinuing)
        #expect(offers.setContinuing(true, id, of: device) == [])
        #expect(offers.withdraw(id, from: device) == [])
        #expect(code { _ = try offers.target(for: id, of: device) } == .offerWithdrawn)
        #expect(try offers.dismiss(id, of: device) == [])
        #expect(offers.offer(try Example.offer(2), from: device, handlers: [.application(notes)]).count == 1)
        #expect(offers.entries.count == 2)
        #expect(offers.setContinuing(false, id, of: device) == [.removed(device, id)])
        #expect(offers.setContinuing(false, id, of: device) == [])
    }

    @Test("an offer that is still there when its continuation is over can be continued again")
    func continuedAgain() throws {
        var offers = try offered()
        _ = offers.setContinuing(true, try Example.activity(1), of: device)
        let actions = offers.setContinuing(false, try Example.activity(1), of: device)
        #expect(try actions == [.changed(entry(offers))])
    }

    @Test("an offer with a document is shown if there is something to open it with, which can be named too")
    func opened() throws {
        let (browser, editor) = (try Example.application("browser"), try Example.application("editor"))
        let offers = try offered(handlers: [.browser(browser), .documentApplication(editor)])
        let id = try Example.activity(1)
        #expect(offers.entries.count == 1)
        #expect(try offers.target(for: id, of: device) == .browser(browser))
        #expect(try offers.target(for: id, of: device, application: editor) == .documentApplication(editor))
    }

    @Test("the application that was named continues, else the best, else the browser, else nobody")
    func targets() throws {
        let other = try Example.application("other")
        let id = try Example.activity(1)
        let offers = try offered(host: "example.com", handlers: [.application(notes), .application(other)])
        #expect(try offers.target(for: id, of: device) == .application(notes))
        #expect(try offers.target(for: id, of: device, application: other) == .application(other))
        let stranger = try Example.application("stranger")
        #expect(
            code { _ = try offers.target(for: id, of: device, application: stranger) } == .invalidArguments)
        #expect(try offered(host: "example.com", handlers: []).target(for: id, of: device) == .browser(nil))
        var shown = RemoteOffers(isEnabled: true, showsUnhandled: true)
        _ = shown.offer(try Example.offer(), from: device, handlers: [])
        #expect(code { _ = try shown.target(for: id, of: device) } == .noApplication)
        #expect(code { _ = try shown.target(for: try Example.activity(2), of: device) } == .unknownObject)
        _ = shown.setEnabled(false)
        #expect(code { _ = try shown.target(for: id, of: device) } == .disabled)
    }

    @Test(
        "what nothing here continues is hidden, with the reason, until something does, it ends or is to be shown"
    )
    func hidden() throws {
        var offers = RemoteOffers(isEnabled: true)
        let device = try Example.device(1)
        let notes = try Example.application()
        let offer = try Example.offer()
        #expect(offers.offer(offer, from: device, handlers: []) == [.hiddenChanged])
        #expect(offers.offer(offer, from: device, handlers: []) == [])
        let hidden = try #require(offers.hidden.first)
        #expect(offers.hidden.count == 1 && hidden.device == device && hidden.offer == offer)
        #expect(hidden.reason.contains(offer.type.description))
        #expect(hidden.reason.contains(offer.team.description))
        #expect(
            offers.offer(try Example.offer(title: "Other"), from: device, handlers: []) == [.hiddenChanged])
        #expect(offers.updateHandlers { _ in [.application(notes)] }.last == .hiddenChanged)
        #expect(offers.hidden.isEmpty && offers.entries.count == 1)
        #expect(offers.updateHandlers { _ in [] }.last == .hiddenChanged)
        #expect(offers.setShowsUnhandled(true).last == .hiddenChanged)
        #expect(offers.hidden.isEmpty && offers.entries.count == 1)
        #expect(offers.setShowsUnhandled(false).last == .hiddenChanged)
        #expect(offers.withdraw(offer.id, from: device) == [.hiddenChanged])
        #expect(offers.hidden.isEmpty)
        _ = offers.offer(offer, from: device, handlers: [])
        #expect(offers.setEnabled(false) == [.hiddenChanged])
        #expect(offers.hidden.isEmpty)
    }

    @Test("when the applications change, all offers are looked at, and what is hidden is told once")
    func manyHidden() throws {
        var offers = RemoteOffers(isEnabled: true)
        let notes = try Example.application()
        for number: UInt8 in 1...3 {
            _ = offers.offer(try Example.offer(number), from: try Example.device(number), handlers: [])
        }
        let second = try Example.activity(2)
        let actions = offers.updateHandlers { $0.id == second ? [] : [.application(notes)] }
        #expect(actions.count == 3 && actions.last == .hiddenChanged)
        #expect(offers.hidden.map(\.offer.id) == [second] && offers.entries.count == 2)
        let others = offers.updateHandlers { $0.id == second ? [.application(notes)] : [] }
        #expect(others.count == 4 && others.count { $0 == .hiddenChanged } == 1)
        #expect(offers.hidden.count == 2 && offers.entries.map(\.offer.id) == [second])
    }

    @Test("what was dismissed or has a web page is not hidden for want of an application")
    func notHidden() throws {
        var offers = RemoteOffers(isEnabled: true, showsUnhandled: true)
        let device = try Example.device(1)
        _ = offers.offer(try Example.offer(), from: device, handlers: [])
        _ = try offers.dismiss(try Example.activity(1), of: device)
        _ = offers.offer(try Example.offer(2, host: "example.com"), from: try Example.device(2), handlers: [])
        #expect(!offers.setShowsUnhandled(false).contains(.hiddenChanged))
        #expect(offers.hidden.isEmpty)
    }
}
