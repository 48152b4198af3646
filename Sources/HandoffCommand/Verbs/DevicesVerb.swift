// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// `handoff devices`: the other devices that the bridge knows.
struct DevicesVerb: Verb {
    static let name = "devices"
    static let summary = "List the other devices: paired, connected, or waiting to be"

    private let printsJSON: Bool

    static func declare(_ options: inout ProgramOptions) { options.json() }

    init(_ values: ProgramOptions.Values) { printsJSON = values.has("json") }

    func run(in session: Session) async throws -> Int32 {
        let devices = try await session.bridge().devices()
        if printsJSON {
            try Output.line(JSON.array(devices.map(\.json)).text)
        } else if devices.isEmpty {
            Output.note(
                "No other devices are known. “handoff connect HOST:PORT” looks for one at an address.")
        } else {
            try Output.lines(devices.table.lines)
        }
        return 0
    }
}
