// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffInterfaces
package import HandoffStatus
package import MainLoop
internal import Platform

/// The indicator in the panel: an item that is seen while there is an offer, and its menu.
@MainLoop
package final class Panel: Surface, PanelItemOwner, PanelMenuOwner {
    /// Whether the desktop's shell shows an indicator of its own, beside which this one would be a second.
    package var isShownByShell = false {
        didSet { if isShownByShell != oldValue { scheduleShowing() } }
    }
    /// What is shown.
    package private(set) var content = PanelContent()
    package private(set) var menu = MenuModel()

    private let bus: Bus
    private let actions: any AgentActions
    private let faces: any ApplicationFaces
    private let token = OfferedToken()
    private let log = Log(domain: "panel")
    private var latest = StatusReport()
    private var timer: LoopSource?
    private var watch: OwnerWatch?
    /// Who takes items now, and whom ours has been told.
    private var watcher: BusName?
    private var informed: BusName?

    private static let watcherName: BusName = "org.kde.StatusNotifierWatcher"
    /// For how long changes are gathered, so that many at once are one for whoever shows them.
    private static let pause = Duration.milliseconds(30)

    /// A panel on `bus`, for applications that look as `faces` knows.
    package init(on bus: Bus, _ actions: any AgentActions, _ faces: any ApplicationFaces) {
        self.bus = bus
        self.actions = actions
        self.faces = faces
        _ = menu.show(content)
    }

    package func begin() {
        bus.connection.objects.export(HandoffNames.agentItem, [StatusNotifierItemBinding(PanelItem(self))])
        bus.connection.objects.export(HandoffNames.agentMenu, [DBusMenuBinding(PanelMenu(self))])
        watch = OwnerWatch(bus, Self.watcherName, log: agentLog) { [weak self] owner in
            self?.watcher = owner
            self?.informed = nil
            self?.inform()
        }
    }

    package func update(_ report: StatusReport) {
        latest = report
        scheduleShowing()
    }

    // MARK: Showing

    private func scheduleShowing() {
        if timer != nil { return }
        timer = .timer(after: Self.pause) { [weak self] in _ = self?.catchUp() }
    }

    package func catchUp() -> Bool {
        guard timer != nil else { return false }
        timer = nil
        let former = content
        content = isShownByShell ? PanelContent() : PanelContent(latest, faces)
        let isAnotherMenu = menu.show(content)
        do throws(DBusError) {
            for signal in try signals(since: former, isAnotherMenu) { bus.connection.post(signal) }
        } catch {
            log.warning("The panel is not told of a change: \(error.message)")
        }
        inform()
        return isAnotherMenu
    }

    /// What everybody is told of a change, as those who show items expect it.
    private func signals(
        since former: PanelContent, _ isAnotherMenu: Bool
    ) throws(DBusError) -> [Message] {
        // Without an item nobody has asked for any.
        if informed == nil { return [] }
        var signals: [Message] = []
        if isAnotherMenu {
            signals.append(
                try DBusMenuBinding.layoutUpdated(
                    from: HandoffNames.agentMenu, revision: menu.revision, parent: 0))
        }
        if content.icon != former.icon {
            signals.append(try StatusNotifierItemBinding.newIcon(from: HandoffNames.agentItem))
        }
        if content.title != former.title {
            signals.append(try StatusNotifierItemBinding.newTitle(from: HandoffNames.agentItem))
        }
        if content.toolTip != former.toolTip {
            signals.append(try StatusNotifierItemBinding.newToolTip(from: HandoffNames.agentItem))
        }
        if content.status != former.status {
            signals.append(
                try StatusNotifierItemBinding.newStatus(from: HandoffNames.agentItem, status: content.status))
        }
        return signals
    }

    /// Tells whoever takes items of ours, once there is something to be seen.
    private func inform() {
        guard let watcher, informed != watcher, content.isActive else { return }
        informed = watcher
        let proxy = StatusNotifierWatcherProxy(
            RemoteObject(bus.connection, watcher, "/StatusNotifierWatcher"))
        MainLoop.start { [weak self] in
            do {
                try await proxy.registerStatusNotifierItem(service: HandoffNames.agentItem.text)
            } catch {
                guard let self, informed == watcher else { return }
                // At the next change it is told again.
                informed = nil
                log.debug("The panel does not take the item: \(DBusError.converting(error).message)")
            }
        }
    }

    // MARK: Choosing

    package func keep(_ token: String, of caller: Caller) { self.token.keep(token, of: caller) }

    package func activate(_ call: MethodCall) { choose(.openWindow, call) }

    package func choose(_ action: MenuModel.Action, _ call: MethodCall) {
        let token = token.take(by: call.caller)
        call.afterReply { [weak self] in self?.perform(action, token) }
    }

    private func perform(_ action: MenuModel.Action, _ token: String) {
        switch action {
        case .continueOffer(let path): actions.continueOffer(at: path, in: nil, token: token)
        case .send(let deviceID): actions.send(to: deviceID)
        case .paste(let deviceID): actions.paste(from: deviceID)
        case .openWindow: actions.openWindow(token: token)
        case .openEverything(let deviceID): actions.openEverything(at: deviceID, token: token)
        case .setEnabled(let isEnabled): actions.setEnabled(isEnabled)
        }
    }
}
