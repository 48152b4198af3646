// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffAdapters
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
package import MainLoop
internal import Platform

/// What the user sees of Handoff without opening anything. It follows the daemons, and has its surfaces show what they say.
@MainLoop
package final class Agent {
    private let bus: Bus
    private let feed: StatusFeed
    private let shell: ShellObject
    private let watch: PresenceWatch
    private let actions: UserActions
    private let board: NoticeBoard
    private let application: AgentApplication
    private let faces: InstalledFaces
    private let gate: LockGate
    private let notices: NoticeSurface
    private let panel: Panel
    private let surfaces: [any Surface]
    private let focus: DesktopFocus
    private let adapters: AgentAdapters
    private let clipboard: AgentClipboard

    /// An agent on `bus`, which is served by nobody else.
    package init(_ bus: Bus) {
        self.bus = bus
        feed = StatusFeed(on: bus)
        shell = ShellObject(bus)
        let window = HandoffWindow(bus)
        watch = PresenceWatch(bus)
        actions = UserActions(feed, window, shell)
        gate = LockGate(actions)
        let looks = ApplicationLooks()
        board = NoticeBoard([DesktopNotices(bus), PlainNotices(bus)], looks)
        application = AgentApplication(board, gate)
        faces = InstalledFaces(looks)
        notices = NoticeSurface(bus, feed, actions, gate, board)
        panel = Panel(on: bus, gate, faces)
        let search = SearchSurface(on: bus, gate, faces)
        surfaces = [notices, search, panel]
        for surface in [search, panel] as [any Surface] { gate.lead(to: surface) }
        focus = DesktopFocus(shell, X11Focus.isX11 ? X11Focus() : nil)
        adapters = AgentAdapters(bus, focus)
        clipboard = AgentClipboard(focus, Self.clipboards(bus)) { [gate] in gate.isOpen }
        clipboard.onPasted = { [notices] in notices.pasted($0, from: $1) }
        clipboard.onAsked = { [notices] in notices.asked($0, by: $1) }
        bus.connection.policy = BusAccessPolicy(bus: bus, watching: [.broker])
    }

    /// The ways to its clipboard that the desktop may have which the environment names.
    private static func clipboards(_ bus: Bus) -> [any ClipboardBackend] {
        // Where windows are those of Wayland, X11 has but the clipboard of a part of them.
        X11Focus.isX11 ? [X11Clipboard(), MutterClipboard(bus)] : [WaylandClipboard(), MutterClipboard(bus)]
    }

    /// Exports what the surfaces have on the bus. To be called before the bus name is requested.
    package func export() {
        shell.begin()
        bus.connection.objects.export(
            HandoffNames.agentClipboard, [DesktopClipboardBinding(clipboard)], isListed: false)
        for surface in surfaces { surface.begin() }
        var interfaces = shell.rootInterfaces + surfaces.flatMap(\.rootInterfaces)
        if HandoffNames.agentApplicationPath == HandoffNames.agentPath {
            interfaces.append(ApplicationBinding(application))
        } else {
            bus.connection.objects.export(
                HandoffNames.agentApplicationPath, [ApplicationBinding(application)], isListed: false)
        }
        bus.connection.objects.export(HandoffNames.agentPath, interfaces)
    }

    /// Begins to follow the daemons and the session.
    /// - Throws: if the bus does not answer.
    package func begin() async throws {
        // Desktops call it by the name of its desktop entry.
        if HandoffNames.agentApplication != HandoffNames.agent,
            try await bus.request(HandoffNames.agentApplication, replacing: true) != .owned
        {
            agentLog.warning(
                "Another program has \(HandoffNames.agentApplication): buttons of notifications in GNOME do nothing."
            )
        }
        watch.onEvent = { [weak self] in self?.presenceChanged($0) }
        watch.begin()
        shell.onAttachmentChange = { [weak self] in self?.attachmentChanged() }
        feed.onChange = { [weak self] in self?.changed() }
        faces.onChange = { [weak self] in self?.facesChanged() }
        adapters.onInstalled = { [weak self] in self?.adaptersChanged() }
        adapters.begin()
        focus.begin()
        feed.begin()
    }

    /// Takes back what is shown, since nobody would answer who presses it. To be called while the bus is still there.
    package func end() {
        board.end()
        clipboard.end()
    }

    /// Returns once that is done, which depends on who shows it.
    package func settle() async { await board.settle() }

    private func facesChanged() {
        if feed.isKnown { gate.update(feed.report) }
    }

    private func attachmentChanged() { panel.isShownByShell = shell.isAttached }

    private func adaptersChanged() {
        focus.know(X11Classes(adapters.installed.flatMap(\.applications).map { ($0.id, $0.windowClass) }))
    }

    private func presenceChanged(_ event: Presence.Event) {
        let wasOpen = gate.isOpen
        gate.set(isLocked: watch.isLocked)
        if gate.isOpen, !wasOpen { clipboard.unlocked() }
        notices.presenceChanged(event)
        adapters.isLocked = watch.isLocked
    }

    private func changed() {
        actions.devicesChanged()
        gate.update(feed.report)
        notices.update(feed.report)
        adapters.update(feed.report.broker.content?.preferences)
        let broker = feed.report.broker.content
        clipboard.update(feed.broker, broker?.preferences, desktop: broker?.clipboardDesktop ?? "")
    }
}
