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
    private let watch: PresenceWatch
    private let actions: UserActions
    private let application: AgentApplication
    private let surfaces: [any Surface]
    private let shell: ShellObject

    /// An agent on `bus`, which is served by nobody else.
    public init(_ bus: Bus) {
        self.bus = bus
        feed = StatusFeed(on: bus)
        let window = HandoffWindow(bus)
        watch = PresenceWatch(bus)
        actions = UserActions(feed, window, watch)
        let board = NoticeBoard([DesktopNotices(bus), PlainNotices(bus)], ApplicationLooks())
        application = AgentApplication(board, window)
        surfaces = [NoticeSurface(bus, feed, actions, watch, board)]
        shell = ShellObject(bus)
        bus.connection.policy = BusAccessPolicy()
    }

    /// Exports what the surfaces have on the bus. To be called before the bus name is requested.
    public func export() {
        shell.begin()
        for surface in surfaces { surface.begin() }
        bus.connection.objects.export(
            HandoffNames.agentPath,
            [ApplicationBinding(application), AgentBinding(shell)] + surfaces.flatMap(\.rootInterfaces))
    }

    /// Begins to follow the daemons and the session.
    public func begin() {
        watch.begin()
        feed.onChange = { [weak self] in self?.changed() }
        feed.begin()
    }

    private func changed() {
        for surface in surfaces { surface.update(feed.report) }
    }
}
