// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// A carrier as the user has asked for it: to which device, and by which command.
struct CarrierEntry: Equatable, Sendable {
    /// The device, by its name or by the beginning of its id.
    let device: String
    /// The program, a name or a path, and its arguments.
    let command: [[UInt8]]
    /// What people read behind the word “by”.
    let label: String

    /// A carrier to `device`.
    /// - Parameter label: nil for the name of the program.
    /// - Throws: what is wrong with that.
    init(device: String, command: [[UInt8]], label: String? = nil) throws(CommandFailure) {
        guard let program = command.first, !program.isEmpty else {
            throw .usage(tr("There is no command."))
        }
        if let label {
            guard !label.isEmpty, PeerText.name(label) == label else {
                throw .usage(
                    tr(
                        "“{label}” cannot be shown as the name of a carrier: give 1 to {count} characters, "
                            + "without control characters, and without white space at the ends.",
                        ["label": label.shown, "count": "\(PeerText.maximumName)"]))
            }
            self.label = label
        } else {
            let name = PeerText.name(Self.name(of: program))
            self.label = name.isEmpty ? tr("a command") : name
        }
        (self.device, self.command) = (device, command)
    }

    /// What the program is called, without the folders before it.
    private static func name(of program: [UInt8]) -> String {
        String(decoding: program.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
    }

    /// The command, with the absolute path of the program, which is looked for where a shell would.
    /// - Throws: if there is no such program.
    func located() throws(CommandFailure) -> [[UInt8]] {
        // A path need not be text; then it is found out later whether something is there.
        guard let name = String(validating: command.first ?? [], as: UTF8.self) else { return command }
        guard let path = ProgramFiles.find(name) else {
            throw CommandFailure(
                tr("There is no program “{program}” that can be run.", ["program": name.shown]))
        }
        return [Array(path.utf8)] + command.dropFirst()
    }
}

/// The carriers in `handoff.conf` (handoff.conf(5)).
extension CarrierEntry {
    /// The group in which they are: a device each, and its command.
    static let group = "Carriers"

    /// What the lines of the group in `file` say, and what is wrong with those that cannot be used, for people.
    static func all(in file: KeyFile) -> (entries: [CarrierEntry], flaws: [String]) {
        var (entries, flaws): ([CarrierEntry], [String]) = ([], [])
        for device in file.keys(in: group) {
            do throws(CommandFailure) {
                entries.append(try entry(of: device, in: file))
            } catch {
                flaws.append(error.message)
            }
        }
        return (entries, flaws)
    }

    private static func entry(of device: String, in file: KeyFile) throws(CommandFailure) -> CarrierEntry {
        let reason: String
        do {
            let line = try file.string(device, in: group) ?? ""
            let words = try ShellWords.split(line)
            return try CarrierEntry(device: device, command: words.map { Array($0.utf8) })
        } catch let error as KeyFileError {
            reason = error.description
        } catch let error as GLibError {
            reason = error.message
        } catch {
            reason = CommandFailure(error).message
        }
        throw .unusable(device, reason)
    }
}

extension CommandFailure {
    /// The line of `handoff.conf` that is for this device cannot be used.
    static func unusable(_ device: String, _ reason: String) -> CommandFailure {
        CommandFailure(
            tr(
                "The carrier to “{device}” in handoff.conf cannot be used: {reason}",
                ["device": device.shown, "reason": reason.shown.sentence]))
    }
}
