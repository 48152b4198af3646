// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffSession
internal import Platform

/// Everything that Handoff keeps of this user on this machine. Documents that were received are the user's.
final class StoredState: Sendable {
    /// The configuration, which machines with the same home folder share.
    static var configuration: String { HandoffDirectories.configurationFile }

    /// The lock of the key and the list of peers, for as long as this lives.
    private let lock: StateLock?
    /// The folder of the key and the list of peers; nil if this machine has no id, so that nobody knows it.
    private let folder: String?

    /// What the names of all that the daemons keep there begin with.
    private static let names = [
        "identity.pem", "trust", HandoffDirectories.lockName, HandoffDirectories.documentsName,
        HandoffDirectories.outboxName, HandoffDirectories.keptName,
    ]
    /// What makes the name of a folder that is being removed.
    private static let ending = ".forgotten"

    /// Keeps bridges out of the state, those of other sessions too.
    /// - Throws: if one has it.
    init() throws(CommandFailure) {
        folder = try? HandoffDirectories.state()
        lock = folder.flatMap { StateLock(of: $0) }
        guard let folder, let lock, !lock.take() else { return }
        throw Self.isInUse(folder, tr("No file was removed."))
    }

    /// Looks, before anything is done, whether a bridge uses the state that is not `process`, the one of this session.
    /// - Throws: if one does.
    static func demandUnused(besides process: UInt32?) throws(CommandFailure) {
        guard let folder = try? HandoffDirectories.state(), let lock = StateLock(of: folder),
            lock.isTaken(byOtherThan: process)
        else { return }
        throw isInUse(folder, tr("Nothing was changed."))
    }

    private static func isInUse(_ folder: String, _ consequence: String) -> CommandFailure {
        CommandFailure(
            tr(
                "Another bridge is using {folder}, perhaps in another session of this user. End it, then try again.",
                ["folder": folder]) + " \(consequence)")
    }

    /// Removes everything.
    /// - Parameter keepsNotices: whether an agent runs, which has to know what it shows.
    /// - Returns: what could not be removed, and why.
    func remove(keepsNotices: Bool) -> [String] {
        var removal = Removal()
        var failures: [String] = []
        if let folder {
            Self.remove(folder, by: &removal)
        } else {
            failures.append(
                tr(
                    "This machine has no id in /etc/machine-id, so which folder in {folder} is its own is not known:"
                        + " remove that folder yourself.", ["folder": "\(UserDirectories.state)/handoff"]))
        }
        removal.remove(
            from: "\(UserDirectories.configuration)/handoff", named: WrittenFile("handoff.conf").hasName)
        removal.remove(HandoffDirectories.welcomed)
        // Other machines that share the home folder keep theirs.
        removal.removeIfEmpty("\(UserDirectories.state)/handoff")
        removal.remove("\(UserDirectories.cache)/handoff/sites")
        removal.removeIfEmpty("\(UserDirectories.cache)/handoff")
        // Nobody but Handoff has anything there.
        let beginnings = keepsNotices ? ["errands"] : ["errands", "notifications"]
        removal.remove(from: "\(UserDirectories.runtime)/handoff") { name in
            beginnings.contains { name.hasPrefix($0) }
        }
        return failures + removal.failures
    }

    /// The folder gets another name first, so that nobody ever finds half of it. If the user has put it elsewhere by a link,
    /// what is ours there goes first: the link alone is no secret.
    private static func remove(_ folder: String, by removal: inout Removal) {
        var status = stat()
        if lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            removal.remove(from: folder) { name in names.contains { name.hasPrefix($0) } }
        }
        let forgotten = folder + ending
        removal.remove(forgotten)
        removal.remove(rename(folder, forgotten) == 0 ? forgotten : folder)
    }
}
