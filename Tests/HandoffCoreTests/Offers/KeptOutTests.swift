// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Offers that only an excluded application would continue")
struct KeptOutTests {
    private let device: DeviceID
    private let notes: ApplicationID

    init() throws {
        device = try Example.device(1)
        notes = try Example.application()
    }

    @Test(
        "it is hidden, and the reason names the application and where that can be changed; it comes back at once"
    )
    func hidden() throws {
        var offers = RemoteOffers(isEnabled: true)
        let offer = try Example.offer()
        _ = offers.offer(offer, from: device, handlers: [.application(notes)])
        let keptOut = KeptOut(applications: [notes])
        let actions = offers.updateHandlers({ _ in [] }, keptOut: { _ in keptOut })
        #expect(actions == [.removed(device, offer.id), .hiddenChanged])
        let reason = try #require(offers.hidden.first?.reason)
        #expect(reason.contains(notes.description) && reason.contains("ExcludedApplications"))
        // What else is said of it is told too, though it is hidden all the same.
        #expect(offers.updateHandlers { _ in [] } == [.hiddenChanged])
        #expect(offers.hidden.first?.reason.contains("ExcludedApplications") == false)
        #expect(offers.offer(offer, from: device, handlers: [], keptOut: keptOut) == [.hiddenChanged])
        #expect(offers.updateHandlers { _ in [.application(notes)] }.last == .hiddenChanged)
        #expect(offers.entries.count == 1 && offers.hidden.isEmpty)
    }

    @Test("a web page is no reason to show it if the browser is excluded too")
    func page() throws {
        var offers = RemoteOffers(isEnabled: true)
        let offer = try Example.offer(host: "www.example.com")
        _ = offers.offer(offer, from: device, handlers: [], keptOut: KeptOut(applications: [notes]))
        #expect(offers.entries.count == 1)
        #expect(try offers.target(for: offer.id, of: device) == .browser(nil))
        _ = offers.offer(
            offer, from: device, handlers: [], keptOut: KeptOut(applications: [notes], hasBrowser: true))
        #expect(offers.entries.isEmpty && offers.hidden.count == 1)
    }

    @Test("where it is shown all the same, continuing says that the application is excluded, named or not")
    func target() throws {
        var offers = RemoteOffers(isEnabled: true, showsUnhandled: true)
        let (offer, writer) = (try Example.offer(), try Example.application("writer"))
        _ = offers.offer(offer, from: device, handlers: [], keptOut: KeptOut(applications: [notes]))
        for named in [nil, notes] {
            #expect {
                try offers.target(for: offer.id, of: device, application: named)
            } throws: {
                let failure = $0 as? HandoffFailure
                return failure?.code == .noApplication && failure?.message.contains("excluded") == true
            }
        }
        #expect {
            try offers.target(for: offer.id, of: device, application: writer)
        } throws: {
            ($0 as? HandoffFailure)?.code == .invalidArguments
        }
    }
}
