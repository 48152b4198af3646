// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import MainLoop
internal import Platform

/// The application that this command acts as while it runs.
@MainLoop
struct StandingApplication {
    /// What registers it.
    let client: HandoffClient
    private let events: StandingEvents

    /// Registers as `declaration` says, from now on, and has `delegate` do what is asked of it.
    init(_ session: Session, _ declaration: ClientDeclaration, _ delegate: any StandingDelegate) async throws
    {
        let bus = try session.bus()
        // The broker is started if necessary. Later on, if the user ends the broker, it is not started again.
        _ = try await session.broker()
        client = HandoffClient(on: bus)
        events = delegate.events
        client.delegate = delegate
        client.start(declaration)
    }

    /// Runs until the command is to end.
    /// - Parameter began: called with each broker, once the application is registered there.
    /// - Throws: the error with which a living broker refuses something.
    func stay(_ began: @MainLoop () -> Void) async throws {
        var (wasRegistered, isRenewed) = (false, false)
        for await event in events.stream {
            switch event {
            case .end: return
            case .failed(let error): throw error
            case .brokerEnded(isReplaced: false):
                Output.note(tr("The broker has ended. Waiting for it to come back."))
            case .brokerEnded(isReplaced: true): break
            case .registrationEnded(let reason):
                Output.note(reason.shown.sentence)
                isRenewed = true
            case .standing(.absent): break
            case .standing(.withoutBus), .standing(.busEnded): throw CommandFailure.busEnded
            case .standing(.refused(let error)), .standing(.replaced(let error)): throw error
            case .standing(.registered):
                began()
                if isRenewed {
                    Output.note(tr("Registered again."))
                } else if wasRegistered {
                    Output.note(tr("Registered with the new broker."))
                }
                (wasRegistered, isRenewed) = (true, false)
            }
        }
    }
}

extension ClientDeclaration {
    /// Declares the options that name the application; `need` says when the id has to be given.
    static func declare(_ options: inout ProgramOptions, need: String) {
        options.text(
            "app-id", argument: "ID",
            tr(
                "The application's id: the name of its desktop entry, or any such name ({need})",
                ["need": need]))
        options.text(
            "team", argument: "TEAM", tr("Its team (default: that of the desktop entry, else the id)"))
    }

    /// What `values` say, which name an id. `usual`: the id if they name none.
    init(_ values: ProgramOptions.Values, types: [String], receives: Bool, usual: String = "") {
        self.init(
            applicationID: values["app-id"] ?? usual, activityTypes: types, team: values["team"],
            receives: receives)
    }
}
