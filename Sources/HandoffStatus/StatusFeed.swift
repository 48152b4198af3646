// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
internal import HandoffInterfaces
internal import HandoffSession
package import MainLoop
internal import Platform

/// Follows both daemons: what they say now, what changes, and that they come and go. It starts neither.
///
/// A connection within a sandbox that has taken the name of a daemon is taken for no daemon, for whatever it showed would be
/// believed. A daemon that does not answer as it should is asked again, less and less often, for as long as it is there: what
/// keeps it busy now says nothing of later.
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
    @MainLoop
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
        /// The owner of the name as long as it has not answered, if it may be asked.
        var unanswered: Daemon?
        /// Whether it is being asked.
        var isAsking = false
        /// Why there is an owner that is no help.
        var failure: FailureText?
        let repetition = Repetition()
        var watch: NameWatch?

        /// Nothing is known of whoever owns the name now.
        mutating func forget() {
            (daemon, mirror, failure, unanswered) = (nil, nil, nil, nil)
            isAsking = false
            repetition.end()
        }

        /// The owner of the name has said what there is.
        mutating func answered(_ daemon: Daemon, _ mirror: ObjectMirror) {
            (self.daemon, self.mirror, isKnown) = (daemon, mirror, true)
            (failure, unanswered) = (nil, nil)
            repetition.end()
        }
    }

    private let bus: Bus
    private var brokerSide = Side(
        name: HandoffNames.broker, root: HandoffNames.brokerPath,
        interfaces: [
            ManagerProxy.interface, PreferencesProxy.interface, ClipboardProxy.interface,
            PhonesProxy.interface,
        ])
    private var bridgeSide = Side(
        name: HandoffNames.bridge, root: HandoffNames.bridgePath, interfaces: [BridgeProxy.interface])
    private var isReportScheduled = false
    private let seesSandboxes = Sandbox.own == nil
    private let followsBridge: Bool

    /// A feed of the daemons on `bus`: without `followsBridge` of the broker alone, and then ``report`` knows of no bridge.
    package init(on bus: Bus, followsBridge: Bool = true) {
        (self.bus, self.followsBridge) = (bus, followsBridge)
    }

    /// Begins to follow.
    package func begin() {
        for side in followsBridge ? [\StatusFeed.brokerSide, \.bridgeSide] : [\.brokerSide] {
            let name = self[keyPath: side].name
            self[keyPath: side].watch = bus.watch(name) { [weak self] in self?.ownerChanged(side, $0) }
        }
    }

    // MARK: Owners

    private typealias SidePath = ReferenceWritableKeyPath<StatusFeed, Side>

    private func ownerChanged(_ side: SidePath, _ owner: BusName?) {
        self[keyPath: side].epoch += 1
        let epoch = self[keyPath: side].epoch
        self[keyPath: side].forget()
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
                side,
                FailureText(
                    summary: tr(
                        "{program} has taken its name from within a sandbox.", ["program": caller.label])))
        }
        self[keyPath: side].unanswered = Daemon(bus: bus, name: owner)
        MainLoop.start { [weak self] in await self?.ask(side) }
    }

    /// Asks the owner of the name for everything, unless it has answered or is being asked.
    private func ask(_ side: SidePath) async {
        guard let daemon = self[keyPath: side].unanswered, !self[keyPath: side].isAsking else { return }
        let epoch = self[keyPath: side].epoch
        self[keyPath: side].isAsking = true
        self[keyPath: side].repetition.pause()
        let mirror = ObjectMirror(daemon, self[keyPath: side].root, self[keyPath: side].interfaces) {
            [weak self] in self?.scheduleReport()
        }
        let failure: DBusError?
        do {
            try await mirror.begin()
            failure = nil
        } catch {
            failure = DBusError.converting(error)
        }
        guard epoch == self[keyPath: side].epoch else { return }
        self[keyPath: side].isAsking = false
        if let failure {
            failed(side, .silence(failure))
            return self[keyPath: side].repetition.repeatLater { [weak self] in
                MainLoop.start { await self?.ask(side) }
            }
        }
        self[keyPath: side].answered(daemon, mirror)
        scheduleReport()
    }

    private func failed(_ side: SidePath, _ reason: FailureText) {
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
        guard brokerSide.isKnown, bridgeSide.isKnown || !followsBridge else { return }
        let former = isKnown ? report : nil
        isKnown = true
        report = StatusReport(
            broker: Self.state(of: brokerSide) { mirror in
                BrokerStatus(
                    objects: mirror.objects, manager: mirror.root[ManagerProxy.interface.text] ?? [:],
                    preferences: mirror.root[PreferencesProxy.interface.text] ?? [:],
                    clipboard: mirror.root[ClipboardProxy.interface.text] ?? [:],
                    phones: mirror.root[PhonesProxy.interface.text] ?? [:])
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
