// SPDX-License-Identifier: LGPL-2.1-or-later
package import Glibc

/// Says to people that something in the file system is not safe to use: what, why, and what to do.
package struct UnsafeFile: Error, CustomStringConvertible {
    /// What is wrong with which file, and what to do.
    package let description: String

    /// An error that says `description`.
    package init(description: String) { self.description = description }
}

/// Whose a file or folder is, and who may do what with it.
package struct FileRights {
    /// What it is called in messages.
    package let path: String
    private let status: stat

    /// The id under which an owner appears that a user namespace does not know: for folders far up the tree,
    /// mostly root.
    private static let unknownOwner: uid_t = 65534

    /// The rights according to `status`, of a file that messages call `path`.
    package init(_ status: stat, _ path: String) { (self.status, self.path) = (status, path) }

    /// The rights of `descriptor`, which messages call `path`.
    /// - Throws: if the system does not tell them.
    package init(of descriptor: Int32, _ path: String) throws(UnsafeFile) {
        self.path = path
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw UnsafeFile(
                description: "It cannot be found out whose \(path) is: \(SystemError.last).")
        }
        self.status = status
    }

    /// The permissions, as chmod(1) writes them.
    package var mode: String { String(status.st_mode & 0o7777, radix: 8) }

    /// Whether it is a regular file.
    package var isFile: Bool { status.st_mode & S_IFMT == S_IFREG }

    /// Whether it is this user's.
    package var isOurs: Bool { status.st_uid == geteuid() }

    /// Takes all rights from everybody but its owner, who must be this user.
    /// - Parameters:
    ///   - wanted: the permissions that it is to have.
    ///   - risk: what others could do while it was open to them, and what to do about that.
    /// - Returns: what was put right, for people; nil if there was nothing.
    /// - Throws: if it is another user's, or its permissions cannot be changed.
    package func restrict(_ descriptor: Int32, to wanted: mode_t, risk: String) throws(UnsafeFile) -> String?
    {
        guard isOurs else {
            throw UnsafeFile(
                description:
                    "\(path) belongs to another user (\(status.st_uid)), who could read and change what is in"
                    + " it. Make it yours (chown) if you trust what it holds, or move it away.")
        }
        guard status.st_mode & 0o077 != 0 else { return nil }
        guard fchmod(descriptor, wanted) == 0 else {
            throw UnsafeFile(
                description: "\(path) is open to others (\(mode)), and that cannot be changed:"
                    + " \(SystemError.last). Keep the state in a place with permissions (XDG_STATE_HOME)."
            )
        }
        return
            "\(path) was open to others (\(mode)); now it is yours alone (\(String(wanted, radix: 8))). \(risk)"
    }

    /// Throws if others could replace what is in this folder.
    ///
    /// A group may have the right to write: on many systems every user has a group of their own, and new
    /// folders give it that right. Whoever has put other people into that group trusts them with much more
    /// than this.
    package func checkNobodyElseReplaces(what: String) throws(UnsafeFile) {
        let remedy = "Take that right from them, or keep the state elsewhere (XDG_STATE_HOME)."
        guard isOurs || status.st_uid == 0 || status.st_uid == Self.unknownOwner else {
            throw UnsafeFile(
                description:
                    "\(path) belongs to another user (\(status.st_uid)), who could put something else in the"
                    + " place of \(what). \(remedy)")
        }
        // With the sticky bit, as in /tmp, only the owner of a file can replace it.
        guard status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            throw UnsafeFile(
                description:
                    "Everybody may write to \(path) (\(mode)), and so could put something else in the place of"
                    + " \(what). \(remedy)")
        }
    }

    /// What to tell the user if others can change this file, which is not secret; nil if they cannot.
    ///
    /// The file is used nevertheless: some people keep such files where a program with other rights sets them
    /// up, and refusing the file would leave Handoff without the switch that is in it.
    package var warningOfWriters: String? {
        let isForeign = !isOurs && status.st_uid != 0 && status.st_uid != Self.unknownOwner
        guard isForeign || status.st_mode & S_IWOTH != 0 else { return nil }
        let whose =
            isForeign ? "belongs to another user (\(status.st_uid))" : "can be changed by everybody (\(mode))"
        return
            "\(path) \(whose), who can so switch Handoff on and off and rename this device. Make it yours alone"
            + " (chown, chmod go-w)."
    }

    /// ``warningOfWriters`` of the file at `path`; also nil if there is no file.
    package static func warningOfWriters(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileRights(status, path).warningOfWriters
    }
}
