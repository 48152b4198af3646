// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// What the linked peers say of their other peers: whom they introduce, and whom their users have unpaired. The latest list of each
/// counts, as long as the link over which it came.
struct IntroductionBook: Equatable {
    private struct Page: Equatable {
        var introduced: [DeviceID: Introduction] = [:]
        var retracted: Set<DeviceID> = []

        var isEmpty: Bool { introduced.isEmpty && retracted.isEmpty }
    }

    private var pages: [DeviceID: Page] = [:]

    /// The peer `introducer` has these other peers, and no more.
    /// - Returns: the devices of which something else is said now.
    mutating func introduce(_ list: [Introduction], by introducer: DeviceID) -> Set<DeviceID> {
        let new = Dictionary(list.map { ($0.device, $0) }, uniquingKeysWith: { first, _ in first })
        let former = pages[introducer]?.introduced ?? [:]
        change(introducer) { $0.introduced = new }
        return Set(new.keys).union(former.keys).filter { new[$0] != former[$0] }
    }

    /// The user of the peer `introducer` has unpaired these devices, and no others.
    /// - Returns: the devices of which something else is said now.
    mutating func retract(_ devices: Set<DeviceID>, by introducer: DeviceID) -> Set<DeviceID> {
        let former = pages[introducer]?.retracted ?? []
        change(introducer) { $0.retracted = devices }
        return devices.symmetricDifference(former)
    }

    /// What `introducer` has said does not count any more.
    /// - Returns: the devices of which it has said something.
    mutating func forget(_ introducer: DeviceID) -> Set<DeviceID> {
        guard let page = pages.removeValue(forKey: introducer) else { return [] }
        return page.retracted.union(page.introduced.keys)
    }

    private mutating func change(_ introducer: DeviceID, _ body: (inout Page) -> Void) {
        var page = pages[introducer] ?? Page()
        body(&page)
        pages[introducer] = page.isEmpty ? nil : page
    }

    /// The devices of which something is said.
    var devices: Set<DeviceID> {
        pages.values.reduce(into: []) { $0.formUnion($1.retracted.union($1.introduced.keys)) }
    }

    /// Whether anything is said of `device`.
    func concerns(_ device: DeviceID) -> Bool {
        pages.values.contains { $0.introduced[device] != nil || $0.retracted.contains(device) }
    }

    /// What is said of `device`, and by whom; in the order of `introducers`.
    func introductions(
        of device: DeviceID, by introducers: [DeviceID]
    ) -> [(introducer: DeviceID, said: Introduction)] {
        introducers.compactMap { introducer in
            pages[introducer]?.introduced[device].map { (introducer, $0) }
        }
    }

    /// Those of `introducers` whose users have unpaired `device`.
    func retractors(of device: DeviceID, among introducers: [DeviceID]) -> [DeviceID] {
        introducers.filter { pages[$0]?.retracted.contains(device) == true }
    }
}
