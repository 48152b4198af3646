// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The application that this command acts as while it runs: it is registered with the broker, and again with
/// each new one.
@MainLoop
struct StandingApplication {
    /// Where it serves its objects.
    static let path: ObjectPath = "/org/example/HandoffCommand"

    /// What it registers as.
    struct Identity: Sendable {
        let applicationID: String
        let types: [String]
        /// The team; nil for that of the desktop entry.
        let team: String?
        /// Whether activities that are continued here are handed to it.
        let receives: Bool

        /// What else it declares.
        var options: [String: Value] {
            var options: [String: Value] = ["Receives": .boolean(receives)]
            if let team { options["Team"] = .string(team) }
            return options
        }
    }

    private let session: Session
    private let identity: Identity
    private let policy = BusAccessPolicy()
    /// What may end it, and what happens to its broker.
    let events: BrokerEvents

    /// Serves `interfaces`, for the broker alone, from now on.
    init(_ session: Session, _ identity: Identity, _ interfaces: [any InterfaceBinding]) async throws {
        self.session = session
        self.identity = identity
        let bus = try session.bus()
        bus.connection.policy = policy
        bus.connection.objects.export(Self.path, interfaces)
        // The broker is started if necessary. Later on, if the user ends the broker, it is not started again.
        _ = try await session.broker()
        events = BrokerEvents(bus)
    }

    /// Runs until the command is to end.
    /// - Parameter began: called with each broker, once the application is registered there.
    /// - Returns: the broker at the end, nil if there is none.
    /// - Throws: the error with which a living broker refuses something.
    func stay(_ began: @MainLoop (Session.Daemon) async throws -> Void) async throws -> Session.Daemon? {
        var current: Session.Daemon?
        var isFirst = true
        for await event in events.stream {
            switch event {
            case .end: return current
            case .busEnded: throw CommandFailure.busEnded
            case .broker(nil):
                if current != nil { Output.note("The broker has ended. Waiting for it to come back.") }
                current = nil
            case .registrationEnded(let owner, let reason):
                guard current?.name == owner else { continue }
                Output.note(reason.shown.sentence)
                current = try await begin(with: owner, began)
                if current != nil { Output.note("Registered again.") }
            case .broker(let owner?):
                if current?.name == owner { continue }
                current = try await begin(with: owner, began)
                if current != nil, !isFirst { Output.note("Registered with the new broker.") }
                if current != nil { isFirst = false }
            }
        }
        return current
    }

    /// Registers with the broker `owner`.
    /// - Returns: nil if that broker has gone in the meantime.
    private func begin(
        with owner: BusName, _ began: @MainLoop (Session.Daemon) async throws -> Void
    ) async throws -> Session.Daemon? {
        let bus = try session.bus()
        let broker = Session.Daemon(bus: bus, name: owner)
        policy.nameOwners[.broker] = owner
        do {
            try await broker.manager.registerApplication(
                applicationId: identity.applicationID, activityTypes: identity.types, application: Self.path,
                options: identity.options)
            try await began(broker)
            return broker
        } catch {
            if try await bus.owner(of: HandoffNames.broker) != owner { return nil }
            throw error
        }
    }
}

extension StandingApplication.Identity {
    static func declare(_ options: inout ProgramOptions) {
        options.text(
            "app-id", argument: "ID", "The application's id: the name of its desktop entry, or any such name")
        options.text("team", argument: "TEAM", "Its team (default: that of the desktop entry, else the id)")
    }

    /// What `values` say. `usual`: the id if they name none; nil if they have to.
    init(
        _ values: ProgramOptions.Values, types: [String], receives: Bool, usual: String? = nil
    ) throws(CommandFailure) {
        if values["app-id"] == nil, let usual {
            applicationID = usual
        } else {
            applicationID = try values.required("app-id", "ID")
        }
        team = values["team"]
        self.receives = receives
        self.types = types
    }
}
