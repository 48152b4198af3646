// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff devices`: the other devices that the bridge knows.
struct DevicesVerb: Verb {
    static let name = "devices"
    static let summary = tr("List the other devices: paired, connected, or nearby")

    private let showsAll: Bool

    static func declare(_ options: inout ProgramOptions) {
        options.flag(
            "all", letter: "a", tr("Also list the introduced devices that you have declined"))
    }

    init(_ values: ProgramOptions.Values) { showsAll = values.has("all") }

    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let devices = try await bridge.devices().filter { showsAll || !$0.isDeclined }
        // One that has just been paired may let itself be found for a moment longer.
        let nearby = try await bridge.nearby().filter { one in
            !devices.contains { $0.isPaired && one.isSame(as: $0) }
        }
        if session.printsJSON {
            try Output.json(.array(devices.map(\.json) + nearby.map(\.json)))
            return 0
        }
        if devices.isEmpty, nearby.isEmpty {
            Output.note(
                tr(
                    "No other devices are known. Run “handoff pair” on one to let it be found, or look for one at an"
                        + " address with “handoff pair HOST:PORT”."))
        }
        if !devices.isEmpty { try Output.lines(devices.table(at: MainLoop.wallClock).lines) }
        try Output.lines(nearby.lines(tr("Nearby, to be paired with “handoff pair NAME”:")))
        if devices.contains(where: \.isIntroduced) {
            Output.note(
                tr(
                    "“handoff pair NAME” accepts a device that is introduced, and “handoff decline NAME” declines it."
                        + " Its own user has to accept this device, too."))
        }
        return 0
    }
}
