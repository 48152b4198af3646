// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// What `handoff carry` is to do.
enum CarryTask: Equatable, Sendable {
    /// To be a carrier to a device.
    case device(CarrierEntry)
    /// To be all carriers that `handoff.conf` names.
    case all
    /// To give standard input and output to the bridge.
    case accept
    /// To give the bridge what connects to the Unix socket at this path.
    case listen(String)

    /// The options that stand alone.
    private static let lone = ["accept", "listen", "all"]
    private static let separator = Array("--".utf8)

    /// What the command line says.
    /// - Parameter command: what stands behind the first `--` there; nil if there is none.
    /// - Throws: what is wrong with it.
    init(_ values: ProgramOptions.Values, command: [[UInt8]]?) throws(CommandFailure) {
        let chosen = Self.lone.filter { values.has($0) }
        guard let option = chosen.first else {
            self = .device(try Self.entry(values, command))
            return
        }
        guard chosen.count == 1 else {
            throw .usage(tr("--accept, --listen and --all cannot be combined. Give one of them."))
        }
        guard values.rest.isEmpty, command?.isEmpty != false, !values.has("label") else {
            throw .usage(
                tr(
                    "--{option} is used alone, without a device, a command or --label.",
                    ["option": option]))
        }
        switch option {
        case "accept": self = .accept
        case "all": self = .all
        default:
            let path = values["listen"] ?? ""
            guard !path.isEmpty else {
                throw .usage(tr("--listen has no path. Give one for the socket."))
            }
            self = .listen(path)
        }
    }

    private static func entry(
        _ values: ProgramOptions.Values, _ command: [[UInt8]]?
    ) throws(CommandFailure) -> CarrierEntry {
        let usage = "carry [--label TEXT] DEVICE -- COMMAND…"
        guard let command else {
            if values.rest.count > 1 {
                throw .usage(tr("Write “--” before the command: handoff {usage}", ["usage": usage]))
            }
            throw .usage(tr("Something is missing: the usage is “handoff {usage}”.", ["usage": usage]))
        }
        // Among what is left there is no “--”, wherever that stood.
        let words = command.filter { $0 != separator }
        let devices = values.rest.dropLast(words.count)
        guard let device = devices.first, !command.isEmpty else {
            throw .usage(tr("Something is missing: the usage is “handoff {usage}”.", ["usage": usage]))
        }
        guard devices.count == 1 else {
            throw .usage(
                tr("There are too many arguments: the usage is “handoff {usage}”.", ["usage": usage]))
        }
        return try CarrierEntry(device: device, command: command, label: values["label"])
    }
}
