// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffInterfaces
internal import MainLoop

/// `handoff list`: what can be continued here.
struct ListVerb: Verb {
    static let name = "list"
    static let summary = "List the activities of other devices that can be continued here"

    private let printsJSON: Bool

    static func declare(_ options: inout ProgramOptions) { options.json() }

    init(_ values: ProgramOptions.Values) { printsJSON = values.has("json") }

    func run(in session: Session) async throws -> Int32 {
        let broker = try await session.broker()
        let offers = RemoteOffer.all(in: try await broker.brokerObjects())
        if printsJSON {
            try Output.line(JSON.array(offers.map(\.json)).text)
        } else if !offers.isEmpty {
            try Output.lines(offers.table(at: MainLoop.wallClock).lines)
        } else if try await broker.manager.enabled() {
            Output.note("No other device offers anything. “handoff status” tells whether something is wrong.")
        } else {
            Output.note("Handoff is switched off, so nothing is offered. Switch it on with “handoff on”.")
        }
        return 0
    }
}
