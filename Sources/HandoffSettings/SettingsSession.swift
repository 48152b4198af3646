// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import DBus
import HandoffClient
import HandoffCore
import HandoffInterfaces
import HandoffSettingsModel
import HandoffStatus
import MainLoop
import Platform

/// What the window knows of broker and bridge, and asks them for.
///
/// The window is on the main actor and this on the main loop, which are both the process's first thread: GTK iterates the
/// default main context there, and the main loop's jobs are a source of that. So what happens here is told to the window at
/// once and in order, without another task.
@MainLoop
final class SettingsSession {
    private var feed: StatusFeed?
    private var tell: (@MainActor (StatusReport) -> Void)?
    private var closing: SignalToken?
    private var shellExtension: ShellExtension?
    private var endings: [LoopSource] = []

    /// How long a bridge may take to connect: longer than it takes to give up.
    private static let patience = Duration.seconds(60)

    /// A session that is not looked at yet.
    nonisolated init() {}

    /// Begins to follow the daemons, and GNOME's extension. `tell` is called with what they say, each time that it is
    /// something else, and `tellExtension` with whether that is on, nil if there is none.
    nonisolated func begin(
        _ tell: @escaping @MainActor (StatusReport) -> Void,
        _ tellExtension: @escaping @MainActor (Bool?) -> Void
    ) {
        MainLoop.start { [self] in
            await follow(tell)
            shellExtension = bus.map { ShellExtension($0) { isOn in Self.enter { tellExtension(isOn) } } }
        }
    }

    /// Asks for `request`. `done` is called with what came of it.
    nonisolated func perform(_ request: Request, _ done: @escaping @MainActor (Outcome) -> Void) {
        MainLoop.start { [self] in
            let outcome = await outcome(of: request)
            Self.enter { done(outcome) }
        }
    }

    /// Asks for `request`, which has to be dealt with even if the window is closed meanwhile: until then the program goes on.
    nonisolated func performToTheEnd(_ request: Request) {
        g_application_hold(g_application_get_default())
        perform(request) { _ in g_application_release(g_application_get_default()) }
    }

    /// Calls `end` when the program is told to end, as when the user logs out.
    nonisolated func whenTold(toEnd end: @escaping @MainActor () -> Void) {
        MainLoop.start { [self] in
            endings = [SIGTERM, SIGINT, SIGHUP].map { .signal($0) { Self.enter(end) } }
        }
    }

    /// Runs `body` here and now: both actors are this thread.
    private static func enter(_ body: @MainActor () -> Void) { MainActor.assumeIsolated(body) }

    // MARK: Following

    private func follow(_ tell: @escaping @MainActor (StatusReport) -> Void) async {
        self.tell = tell
        guard SessionBus.isKnown else {
            return say(StatusReport(busFailure: tr("Log in to a desktop session, and start this there.")))
        }
        do {
            let bus = try await Bus.connect(.session)
            closing = bus.connection.whenClosed { [weak self] error in
                self?.say(StatusReport(busFailure: Self.noBus))
            }
            let feed = StatusFeed(on: bus)
            self.feed = feed
            feed.onChange = { [weak self, weak feed] in if let feed { self?.say(feed.report) } }
            feed.begin()
            self.bus = bus
        } catch {
            say(StatusReport(busFailure: Self.noBus))
        }
    }

    private var bus: Bus?

    private func say(_ report: StatusReport) {
        guard let tell else { return }
        Self.enter { tell(report) }
    }

    // MARK: Asking

    private func outcome(of request: Request) async -> Outcome {
        do {
            return try await perform(request)
        } catch ContinueCall.Failure.brokerEnded {
            return .failed(
                name: "", message: tr("The broker has ended before. Try again once it runs."))
        } catch SendCall.Failure.bridgeEnded {
            return .failed(
                name: "",
                message: tr(
                    "The bridge has ended. What was sent may have arrived; send it again if it has not."))
        } catch let said as Said {
            return .failed(name: "", message: said.text)
        } catch {
            return .failed(DBusError.converting(error))
        }
    }

    private func perform(_ request: Request) async throws -> Outcome {
        switch request {
        case .setPreference(let name, let value): try await setPreference(name, value)
        case .changeList(let change): try await changePreference(change.preference, change.applied)
        case .changeFolders(let change): try await changePreference("SharedFolders", change.applied)
        case .startBroker: try await started(HandoffNames.broker)
        case .startBridge: try await started(HandoffNames.bridge)
        case .continueOffer(let path, let application, let token):
            return try await continueOffer(path, application, token)
        case .cancelContinuing(let path): try await RemoteActivityProxy(broker.object(path)).cancel()
        case .dismiss(let path): try await RemoteActivityProxy(broker.object(path)).dismiss()
        case .setDiscoverable(let isOn):
            try await BridgeProxy(bridge.object(HandoffNames.bridgePath)).setDiscoverable(isOn)
        case .connect(let addresses):
            do {
                return try await connect(addresses)
            } catch let error as DBusError {
                return .failed(name: error.name.text, message: FailureText.connecting(error).line)
            }
        case .pair(let id): try await device(id).pair()
        case .confirmPairing(let id, let matches): try await device(id).confirmPairing(matches: matches)
        case .cancelPairing(let id): try await device(id).cancelPairing()
        case .unpair(let id): try await device(id).unpair()
        case .acceptIntroduction(let id): try await device(id).acceptIntroduction()
        case .declineIntroduction(let id): try await device(id).declineIntroduction()
        case .keepPairing(let id): try await device(id).keepPairing()
        case .setMuted(let id, let isOn):
            try await object(of: id).setProperty(DeviceProxy.interface, "Muted", isOn)
        case .setShellExtension(let isOn): try await shellExtension?.set(isOn)
        case .send(let id):
            let call = try SendCall(bridge, HandoffNames.devices.appending(id))
            let outcome: SendCall.Outcome
            do {
                outcome = try await call.outcome()
            } catch let error as DBusError {
                return .failed(name: error.name.text, message: FailureText.sending(error).line)
            }
            if case .failed(let name, let message) = outcome { return .notSent(name, message) }
        case .sendToPhone(let phone):
            do {
                try await phone.send(by: broker)
            } catch let error as DBusError {
                return .failed(name: error.name.text, message: FailureText.sendingToPhone(error).line)
            }
        case .cancelWaiting(let id, let device): try await self.device(device).cancelWaiting(id: id)
        case .listActivities(let id):
            do {
                return .listed(try await open(at: id))
            } catch let error as DBusError {
                return .failed(name: error.name.text, message: FailureText.listing(error).line)
            }
        case .continueAll(let paths, let token):
            let options: [String: Value] = token.isEmpty ? [:] : ["ActivationToken": .string(token)]
            return .began(try await broker.manager.continueAll(activities: paths, options: options))
        case .cancelAll(let path): try await ContinueAllProxy(broker.object(path)).cancel()
        }
        return .done
    }

    /// What the user is told instead of what was asked for, in their language.
    private struct Said: Error { let text: String }

    private static var noBus: String { tr("There is no session bus. Log in again.") }

    private var broker: Daemon {
        get throws {
            if let broker = feed?.broker { return broker }
            throw Said(text: tr("The broker is not running. Start it, and try again."))
        }
    }

    private var bridge: Daemon {
        get throws {
            if let bridge = feed?.bridge { return bridge }
            throw Said(text: tr("The bridge is not running. Start it, and try again."))
        }
    }

    private func object(of id: String) throws -> RemoteObject {
        try bridge.object(try HandoffNames.devices.appending(id))
    }

    private func device(_ id: String) throws -> DeviceProxy { DeviceProxy(try object(of: id)) }

    private func setPreference(_ name: String, _ value: Value) async throws {
        let object = try broker.object(HandoffNames.brokerPath)
        _ = try await object.call(.properties, "Set", output: "") { (writer) throws(DBusError) in
            try writer.write(PreferencesProxy.interface.text)
            try writer.write(name)
            try writer.write(value)
        }
    }

    /// Ends when the last of the changes that are made one after the other is over.
    private var lastChange: Task<Void, Never>?

    /// Writes what becomes of the preference by `change`, once the changes before have been made. What is shown of it may be
    /// out of date by then, or not all of it.
    private func changePreference<Content: DBusType & Sendable>(
        _ name: String, _ change: @escaping @Sendable (Content) -> Content
    ) async throws {
        let former = lastChange
        let this = MainLoop.start { [self] () async throws -> Void in
            await former?.value
            let object = try broker.object(HandoffNames.brokerPath)
            let latest: Content = try await object.property(PreferencesProxy.interface, name)
            try await object.setProperty(PreferencesProxy.interface, name, change(latest))
        }
        lastChange = MainLoop.start { () async -> Void in _ = await this.result }
        try await this.value
    }

    private func started(_ name: BusName) async throws {
        guard let bus else {
            throw Said(text: Self.noBus)
        }
        try await bus.startService(name)
    }

    private func continueOffer(
        _ path: ObjectPath, _ application: String?, _ token: String
    ) async throws -> Outcome {
        let broker = try broker
        guard let offer = feed?.report.broker.content?.offers.first(where: { $0.path == path }) else {
            return .failed(name: "", message: tr("It is not offered any more."))
        }
        var options: [String: Value] = [:]
        if let application { options["ApplicationId"] = .string(application) }
        if !token.isEmpty { options["ActivationToken"] = .string(token) }
        let outcome = try await ContinueCall(broker, offer).outcome(of: options)
        if outcome.isSuccess {
            return outcome.message.isEmpty ? .done : .told(PeerText.message(outcome.message))
        }
        return .notContinued(outcome.errorName, outcome.message)
    }

    /// What is open at the device of this id.
    private func open(at id: String) async throws -> [RemoteOffer] {
        try await RemoteOffer.open(
            at: try HandoffNames.devices.appending(id), of: try bridge, try broker)
    }

    private func connect(_ addresses: [String]) async throws -> Outcome {
        let proxy = BridgeProxy(try bridge.object(HandoffNames.bridgePath))
        var failure: any Error = Said(text: tr("It has no address. Try again."))
        for address in addresses {
            do {
                let path = try await proxy.connect(address: address, timeout: Self.patience)
                return .device(String(path.lastElement))
            } catch {
                failure = error
            }
        }
        throw failure
    }
}
