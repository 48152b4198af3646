// SPDX-License-Identifier: LGPL-2.1-or-later

/// What can stand at a place of the command line.
enum Completion: String, CaseIterable {
    /// Something that only the user knows.
    case nothing
    /// The name of a verb.
    case verbs
    /// The id of an activity that can be continued here.
    case offers
    /// An application that can continue one of them.
    case handlers
    /// A paired device.
    case peers
    /// A paired device, or a telephone that what is current can be sent to.
    case recipients
    /// The id of something that waits for a device that is away.
    case waiting
    /// A paired device of which it is shown what it sends.
    case unmutedPeers
    /// A paired device of which it is not shown what it sends.
    case mutedPeers
    /// An introduced device that has not been declined, or a peer that others have unpaired.
    case declinable
    /// A device that can be paired: one that asks, is connected, is introduced, or lets itself be found.
    case strangers
    /// The address of a device that lets itself be found, or the name of a host.
    case addresses
    /// What of a clipboard goes between devices.
    case clipboardKinds
    /// A file, which the shell itself completes.
    case files
    /// A folder, which the shell itself completes.
    case folders
    /// A program and its arguments, which the shell itself completes.
    case commands

    /// What the argument of an option is, by what the help calls it.
    init(argument: String) {
        self =
            switch argument {
            case "FILE": .files
            case "FOLDER": .folders
            case "COMMAND", "COMMAND…": .commands
            default: .nothing
            }
    }

    /// What tells the shell to complete by itself; nil if this program knows all there is.
    var directive: String? {
        switch self {
        case .files: ":files"
        case .folders: ":folders"
        case .commands: ":commands"
        case .addresses: ":hosts"
        default: nil
        }
    }
}
