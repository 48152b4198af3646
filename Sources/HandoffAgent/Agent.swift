// SPDX-License-Identifier: LGPL-2.1-or-later
public import DBus
internal import HandoffClient
internal import HandoffInterfaces
public import MainLoop

/// What the user sees of Handoff without opening anything. It follows the daemons, and has its surfaces show what they say.
@MainLoop
public final class Agent {
    private let bus: Bus
    private let feed: StatusFeed
    private var surfaces: [any Surface] = []

    /// An agent on `bus`, which is served by nobody else.
    public init(_ bus: Bus) {
        self.bus = bus
        feed = StatusFeed(on: bus)
        bus.connection.policy = BusAccessPolicy()
    }

    /// Exports what the surfaces have on the bus. To be called before the bus name is requested.
    public func export() {
        for surface in surfaces { surface.begin() }
    }

    /// Begins to follow the daemons.
    public func begin() {
        feed.onChange = { [weak self] in self?.changed() }
        feed.begin()
    }

    private func changed() {
        for surface in surfaces { surface.update(feed.report) }
    }
}
