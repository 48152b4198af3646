// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffInterfaces
internal import Platform

/// `handoff on`: switches Handoff on.
struct OnVerb: Verb {
    static let name = "on"
    static let summary = tr("Switch Handoff on")

    init(_ values: ProgramOptions.Values) {}

    func run(in session: Session) async throws -> Int32 {
        try await session.broker().manager.setEnabled(true)
        try session.reply(tr("Handoff is on."), ["enabled": .boolean(true)])
        return 0
    }
}

/// `handoff off`: switches Handoff off.
struct OffVerb: Verb {
    static let name = "off"
    static let summary = tr("Switch Handoff off: nothing is offered or accepted until it is on again")

    init(_ values: ProgramOptions.Values) {}

    func run(in session: Session) async throws -> Int32 {
        try await session.broker().manager.setEnabled(false)
        try session.reply(tr("Handoff is off."), ["enabled": .boolean(false)])
        return 0
    }
}
