// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBridge

@Suite("Which link stays, and when to dial")
struct LinkChoiceTests {
    private let small: DeviceID
    private let large: DeviceID

    init() throws {
        small = try #require(DeviceID(String(repeating: "1", count: 64)))
        large = try #require(DeviceID(String(repeating: "2", count: 64)))
    }

    /// Which of two links stays at a device that sees `first` established before `second`.
    private func survivor(
        at ours: DeviceID, _ theirs: DeviceID, dialledBySmall first: Bool, then second: Bool, after gap: Int64
    ) -> Bool {
        let isSmall = ours < theirs
        let old = LinkChoice.Candidate(isDialled: first == isSmall, establishedAt: 0)
        let new = LinkChoice.Candidate(isDialled: second == isSmall, establishedAt: gap)
        return LinkChoice(ours: ours, theirs: theirs).replaces(new, old) ? second : first
    }

    @Test("of two links dialled at the same time both sides keep the one dialled by the smaller id")
    func simultaneous() {
        for (ours, theirs) in [(small, large), (large, small)] {
            for order in [true, false] {
                #expect(survivor(at: ours, theirs, dialledBySmall: order, then: !order, after: 10_000))
            }
        }
    }

    @Test("a link that a carrier has brought never replaces a direct one, which always replaces it")
    func carried() {
        let choice = LinkChoice(ours: small, theirs: large)
        for (isNew, isOld, time) in [(true, true, 0), (true, false, 1), (false, true, 10_000_000)]
            as [(Bool, Bool, Int64)]
        {
            let direct = LinkChoice.Candidate(isDialled: isOld, establishedAt: 0)
            let carried = LinkChoice.Candidate(isDialled: isNew, establishedAt: time, isCarried: true)
            #expect(!choice.replaces(carried, direct))
            let later = LinkChoice.Candidate(isDialled: isOld, establishedAt: time)
            let former = LinkChoice.Candidate(isDialled: isNew, establishedAt: 0, isCarried: true)
            #expect(choice.replaces(later, former))
        }
    }

    @Test("otherwise the newer link replaces the older")
    func newer() {
        for (ours, theirs) in [(small, large), (large, small)] {
            #expect(survivor(at: ours, theirs, dialledBySmall: true, then: false, after: 6_000_000) == false)
            #expect(survivor(at: ours, theirs, dialledBySmall: false, then: true, after: 6_000_000))
            let choice = LinkChoice(ours: ours, theirs: theirs)
            for isDialled in [true, false] {
                let old = LinkChoice.Candidate(isDialled: isDialled, establishedAt: 0)
                #expect(choice.replaces(LinkChoice.Candidate(isDialled: isDialled, establishedAt: 1), old))
            }
        }
    }
}
