// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// This session: its bus, and the two daemons there.
@MainLoop
final class Session {
    /// Whether what is printed is for programs.
    let printsJSON: Bool
    private var openBus: Bus?

    /// A session whose bus is not connected yet.
    init(printsJSON: Bool) { self.printsJSON = printsJSON }

    /// Prints what a verb has done: `words` for people, or `json` for programs.
    func reply(_ words: String, _ json: @autoclosure () -> JSON) throws(CommandFailure) {
        if printsJSON { try Output.json(json()) } else { try Output.line(words) }
    }

    /// The session bus, connected when it is first needed.
    func bus() throws(CommandFailure) -> Bus {
        if let openBus { return openBus }
        guard SessionBus.isKnown else {
            throw CommandFailure(
                tr(
                    "No session bus is known: DBUS_SESSION_BUS_ADDRESS is not set and $XDG_RUNTIME_DIR/bus does not exist."
                        + " Run this in your desktop session, or under “dbus-run-session”."), .notRunning)
        }
        let bus: Bus
        do { bus = try Bus(.session) } catch {
            throw CommandFailure(
                tr(
                    "{reason} Check DBUS_SESSION_BUS_ADDRESS, and that the session's D-Bus daemon runs.",
                    ["reason": error.message.shown.sentence]),
                .notRunning)
        }
        // libdbus makes the process ignore this signal, but writing to a pipe that nobody reads must end this
        // program.
        signal(SIGPIPE, SIG_DFL)
        // Whoever waits at a terminal wants to know soon that nobody answers.
        bus.connection.patience = .seconds(10)
        openBus = bus
        return bus
    }

    /// Sends what is queued. This is meant for the end of the program.
    func flush() {
        if let openBus, !openBus.connection.isClosed { openBus.flush() }
    }

    // MARK: Daemons

    /// The broker, started if it is not running.
    func broker() async throws -> Daemon {
        try await daemon(HandoffNames.broker, tr("the broker (handoffd)"))
    }

    /// The bridge, started if it is not running.
    func bridge() async throws -> Daemon {
        try await daemon(HandoffNames.bridge, tr("the bridge (handoff-bridge)"))
    }

    /// The owner of `name` now, nil if there is none; nothing is started.
    /// - Throws: a failure that says so if it runs in a sandbox.
    func running(_ name: BusName) async throws -> Daemon? {
        guard let owner = try await bus().owner(of: name) else { return nil }
        return try await believed(owner, of: name)
    }

    /// `owner`, which has taken `name`; nil if it is gone again. The name says nothing: any program in a sandbox can take
    /// it, and would be told what the user does, and believed.
    /// - Throws: a failure that says so if it runs in a sandbox.
    func believed(_ owner: BusName, of name: BusName) async throws -> Daemon? {
        let bus = try bus()
        do {
            guard let caller = try await bus.identifiedOwner(of: owner) else { return nil }
            // From within a sandbox, others cannot be examined.
            if caller.sandbox == nil || Sandbox.own != nil { return Daemon(bus: bus, name: owner) }
        } catch let error as DBusError where error.name == .nameHasNoOwner {
            return nil
        }
        // What has ended cannot be examined either.
        guard try await bus.owner(of: owner) != nil else { return nil }
        throw CommandFailure(
            tr(
                "{owner} has taken the name {name} from within a sandbox, and is told nothing. Close that program, then"
                    + " try again; “busctl --user status {name}” tells which one it is.",
                ["owner": owner.text, "name": name.text]), .refused)
    }

    /// The owner of `name`, waited for if there is none yet; nil if none comes in `limit`. Nothing is started.
    /// - Throws: a failure that says so if it runs in a sandbox.
    func awaited(_ name: BusName, _ limit: Duration) async throws -> Daemon? {
        let bus = try bus()
        let (owners, feed) = AsyncStream<BusName?>.makeStream()
        let watch = bus.watch(name) { if let owner = $0 { feed.yield(owner) } }
        let timer = LoopSource.timer(after: limit) { feed.yield(nil) }
        defer { withExtendedLifetime((watch, timer)) {} }
        for await owner in owners {
            guard let owner else { return nil }
            if let daemon = try await believed(owner, of: name) { return daemon }
        }
        return nil
    }

    /// The adapter that owns `name`, which messages call `label`, started if it is not running.
    func adapter(_ name: BusName, _ label: String) async throws -> Daemon { try await daemon(name, label) }

    private func daemon(_ name: BusName, _ label: String) async throws -> Daemon {
        if let daemon = try await running(name) { return daemon }
        do {
            try await bus().startService(name)
        } catch let error as DBusError where error.name == .serviceUnknown {
            throw CommandFailure(
                tr(
                    "Handoff is not running: the bus does not know how to start {program}. Install Handoff for this user"
                        + " or this machine, or start it yourself. See “handoff status”.", ["program": label]),
                .notRunning)
        } catch let error as DBusError {
            throw CommandFailure(
                tr(
                    "The bus could not start {program}: {reason} Look at the log:"
                        + " journalctl --user --since today | grep handoff.",
                    ["program": label, "reason": error.message.shown.sentence]), .notRunning)
        }
        guard let daemon = try await running(name) else {
            throw CommandFailure(
                tr(
                    "The bus has started {program}, but it ended at once. Look at the log.",
                    ["program": label]),
                .notRunning)
        }
        return daemon
    }

    /// Whether the bus knows how to start the owner of `name`.
    func canStart(_ name: BusName) async throws -> Bool {
        try await bus().activatableNames().contains(name.text)
    }
}

extension Daemon {
    /// The bridge's root object.
    var bridge: BridgeProxy { BridgeProxy(object(HandoffNames.bridgePath)) }

    /// The offers that are not shown because nothing here continues them; none if the broker does not know
    /// about that.
    func hiddenOffers() async throws -> [HiddenOffer] {
        HiddenOffer.all(
            in: try await properties(ManagerProxy.interface, HandoffNames.brokerPath)["HiddenOffers"])
    }

    /// The devices nearby that can be paired.
    func nearby(timeout: Duration? = nil) async throws -> [NearbyDevice] {
        NearbyDevice.all(
            in: try await properties(BridgeProxy.interface, HandoffNames.bridgePath, timeout: timeout)[
                "Nearby"])
    }

    /// The devices that the bridge knows.
    func devices(timeout: Duration? = nil) async throws -> [KnownDevice] {
        KnownDevice.all(in: try await managedObjects(HandoffNames.bridgePath, timeout))
    }
}
