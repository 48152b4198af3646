// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff list`: what can be continued here.
struct ListVerb: Verb {
    static let name = "list"
    static let summary = tr("List the activities of other devices that can be continued here")

    static let completions = ["device": Completion.peers]

    private let showsAll: Bool
    private let showsOpen: Bool
    private let device: String?

    static func declare(_ options: inout ProgramOptions) {
        options.flag(
            "all", letter: "a", tr("Also list what is hidden because nothing here can continue it, and why"))
        options.flag(
            "open", tr("List all that is open at a device, and why something cannot be continued here"))
        options.text(
            "device", argument: "NAME", tr("The device that --open asks (default: the one that is connected)")
        )
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        (showsAll, showsOpen, device) = (values.has("all"), values.has("open"), values["device"])
        guard showsOpen || device == nil else {
            throw .usage(tr("--device needs --open, which lists what is open at that device."))
        }
    }

    func run(in session: Session) async throws -> Int32 {
        let broker = try await session.broker()
        if showsOpen {
            return try Self.list(try await OpenActivities.ask(device, broker, in: session), in: session)
        }
        let offers = RemoteOffer.all(in: try await broker.brokerObjects())
        let hidden = try await broker.hiddenOffers()
        let shown = showsAll ? hidden : []
        if session.printsJSON {
            try Output.json(.array(offers.map(\.json) + shown.map(\.json)))
            return 0
        }
        let now = MainLoop.wallClock
        if !offers.isEmpty { try Output.lines(offers.lines(at: now)) }
        if !shown.isEmpty { try Output.lines((offers.isEmpty ? [] : [""]) + shown.lines(at: now)) }
        // Unless what was printed says so already.
        if offers.isEmpty, hidden.isEmpty || !showsAll { Output.note(try await Self.nothing(broker, hidden)) }
        return 0
    }

    @MainLoop
    private static func list(
        _ open: OpenActivities, in session: Session
    ) throws(CommandFailure) -> Int32 {
        if session.printsJSON {
            try Output.json(.array(open.offers.map(\.json)))
        } else if open.offers.isEmpty {
            Output.note(open.nothing)
        } else {
            try Output.lines(open.offers.lines(at: MainLoop.wallClock))
        }
        return 0
    }

    /// Why there is nothing to continue, but for these offers that are hidden.
    @MainLoop
    static func nothing(_ broker: Daemon, _ hidden: [HiddenOffer]) async throws -> String {
        if try await !broker.manager.enabled() {
            return tr("Handoff is switched off, so nothing is offered. Switch it on with “handoff on”.")
        }
        if hidden.isEmpty {
            return tr("No other device offers anything. “handoff status” shows whether something is wrong.")
        }
        return trn(
            "Nothing here continues what other devices offer: “handoff list --all” shows {count} that is hidden, and why.",
            "Nothing here continues what other devices offer: “handoff list --all” shows {count} that are hidden, and why.",
            count: hidden.count)
    }
}
