// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffInterfaces
package import MainLoop
internal import Platform

/// Follows both daemons: what they say now, what changes, and that they come and go. It starts neither.
///
/// A connection within a sandbox that has taken the name of a daemon is taken for no daemon, for whatever it showed would be
/// believed.
@MainLoop
package final class StatusFeed {
    /// What there is to show now. It says that there is no daemon until that is known.
    package private(set) var report = StatusReport()
    /// Whether both daemons have been looked for once, so that ``report`` is more than a beginning.
    package private(set) var isKnown = false
    /// Called when ``report`` is another, once for all that has changed in a turn of the loop, and the first time when it
    /// is known.
    package var onChange: (@MainLoop () -> Void)?

    /// The broker, to be called; nil while none answers.
    package var broker: Daemon? { brokerSide.daemon }
    /// The bridge, to be called; nil while none answers.
    package var bridge: Daemon? { bridgeSide.daemon }

    /// One of the two daemons, as far as it is known.
    private struct Side {
        let name: BusName
        let root: ObjectPath
        let interfaces: [InterfaceName]
        /// Counts the owners of the name, so that what is said of a former one is worth nothing.
        var epoch = 0
        var isKnown = false
        var canStart = false
        var daemon: Daemon?
        var mirror: ObjectMirror?
        /// Why there is an owner that is no help.
        var failure: String?
        var watch: NameWatch?
    }

    private let bus: Bus
    private var brokerSide = Side(
        name: HandoffNames.broker, root: HandoffNames.brokerPath,
        interfaces: [ManagerProxy.interface, PreferencesProxy.interface])
    private var bridgeSide = Side(
        name: HandoffNames.bridge, root: HandoffNames.bridgePath, interfaces: [BridgeProxy.interface])
    private var isReportScheduled = false
    private let seesSandboxes = Sandbox.own == nil

    /// A feed of the daemons on `bus`.
    package init(on bus: Bus) { self.bus = bus }

    /// Begins to follow.
    package func begin() {
        for side in [\StatusFeed.brokerSide, \StatusFeed.bridgeSide] {
            let name = self[keyPath: side].name
            self[keyPath: side].watch = bus.watch(name) { [weak self] in self?.ownerChanged(side, $0) }
        }
    }

    // MARK: Owners

    private typealias SidePath = ReferenceWritableKeyPath<StatusFeed, Side>

    private func ownerChanged(_ side: SidePath, _ owner: BusName?) {
        self[keyPath: side].epoch += 1
        let epoch = self[keyPath: side].epoch
        (self[keyPath: side].daemon, self[keyPath: side].mirror, self[keyPath: side].failure) = (
            nil, nil, nil
        )
        scheduleReport()
        if let owner {
            bus.identify(owner) { [weak self] in self?.identified(side, $0, owner, epoch) }
        } else {
            MainLoop.start { [weak self] in await self?.lookForService(side, epoch) }
        }
    }

    private func lookForService(_ side: SidePath, _ epoch: Int) async {
        let names = try? await bus.activatableNames()
        guard epoch == self[keyPath: side].epoch else { return }
        self[keyPath: side].canStart = names?.contains(self[keyPath: side].name.text) ?? false
        self[keyPath: side].isKnown = true
        scheduleReport()
    }

    private func identified(_ side: SidePath, _ caller: Caller, _ owner: BusName, _ epoch: Int) {
        guard epoch == self[keyPath: side].epoch else { return }
        guard caller.sandbox == nil || !seesSandboxes else {
            return failed(
                side, tr("{program} has taken its name from within a sandbox.", ["program": caller.label]))
        }
        let daemon = Daemon(bus: bus, name: owner)
        let mirror = ObjectMirror(daemon, self[keyPath: side].root, self[keyPath: side].interfaces) {
            [weak self] in self?.scheduleReport()
        }
        self[keyPath: side].mirror = mirror
        MainLoop.start { [weak self] in
            let failure: DBusError?
            do {
                try await mirror.begin()
                failure = nil
            } catch {
                failure = DBusError.converting(error)
            }
            guard let self, epoch == self[keyPath: side].epoch else { return }
            if let failure { return failed(side, failure.message) }
            self[keyPath: side].daemon = daemon
            self[keyPath: side].isKnown = true
            scheduleReport()
        }
    }

    private func failed(_ side: SidePath, _ reason: String) {
        self[keyPath: side].mirror = nil
        self[keyPath: side].failure = reason
        self[keyPath: side].isKnown = true
        scheduleReport()
    }

    // MARK: Reporting

    private func scheduleReport() {
        if isReportScheduled { return }
        isReportScheduled = true
        MainLoop.start { [weak self] in self?.makeReport() }
    }

    private func makeReport() {
        isReportScheduled = false
        guard brokerSide.isKnown, bridgeSide.isKnown else { return }
        let former = isKnown ? report : nil
        isKnown = true
        report = StatusReport(
            broker: Self.state(of: brokerSide) { mirror in
                BrokerStatus(
                    objects: mirror.objects, manager: mirror.root[ManagerProxy.interface.text] ?? [:],
                    preferences: mirror.root[PreferencesProxy.interface.text] ?? [:])
            },
            bridge: Self.state(of: bridgeSide) { mirror in
                BridgeStatus(objects: mirror.objects, mirror.root[BridgeProxy.interface.text] ?? [:])
            })
        if report != former { onChange?() }
    }

    private static func state<Content>(
        of side: Side, _ content: (ObjectMirror) -> Content
    ) -> StatusReport.Daemon<Content> {
        if side.daemon != nil, let mirror = side.mirror { return .running(content(mirror)) }
        if let failure = side.failure { return .silent(failure) }
        return .absent(canStart: side.canStart)
    }
}
