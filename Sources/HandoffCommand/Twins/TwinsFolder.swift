// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import MainLoop
internal import Platform

/// The folder of two machines, which is there as long as they are. Whoever keeps them has it locked; if nobody has, it is left
/// over from someone who was killed.
final class TwinsFolder: Sendable {
    private static let prefix = "handoff-twins-"
    /// The longest path of a socket (unix(7)), less what comes below this folder.
    private static let maximumLength = 108 - 40

    /// Where it is.
    let path: String
    private let lock: Int32

    private init(path: String, lock: Int32) { (self.path, self.lock) = (path, lock) }

    deinit { if lock >= 0 { close(lock) } }

    /// Where these folders are: in TMPDIR, if its name means nothing but itself to shells, buses and terminals.
    private static var base: String {
        guard let named = Variables.all["TMPDIR"].flatMap(resolved), isPlain(named),
            named != "/", named.utf8.count + prefix.utf8.count + 6 < maximumLength
        else { return "/tmp" }
        return named
    }

    /// The path of what is there, without links and detours; nil if nothing is there.
    static func resolved(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(validatingCString: found)
    }

    private static func isPlain(_ path: String) -> Bool {
        path.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"),
                UInt8(ascii: "_"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
    }

    /// Whether a folder of this path can be one of these.
    static func isNamed(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return isPlain(path) && name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6
    }

    /// Makes one, locked, which nobody but this user can enter.
    /// - Throws: why that is not possible.
    static func make() throws(CommandFailure) -> TwinsFolder {
        let template = strdup("\(base)/.\(prefix)XXXXXX")
        defer { free(template) }
        guard let template, let made = mkdtemp(template) else {
            let reason = SystemError.last
            throw CommandFailure(
                tr(
                    "No folder can be made in “{folder}”: {reason}.",
                    ["folder": base.shown, "reason": reason]))
        }
        let begun = String(cString: made)
        let lock = open("\(begun)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        // It has its name only once it is locked: nobody takes it for abandoned.
        let path = "\(base)/\(prefix)\(begun.suffix(6))"
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0, rename(begun, path) == 0 else {
            let reason = SystemError.last
            if lock >= 0 { close(lock) }
            unlink("\(begun)/lock")
            rmdir(begun)
            throw CommandFailure(
                tr("“{file}” cannot be made: {reason}.", ["file": path.shown, "reason": reason]))
        }
        return TwinsFolder(path: path, lock: lock)
    }

    /// Those of this user, and whether someone keeps each.
    private static var all: [(path: String, isKept: Bool)] {
        guard let folder = opendir(base) else { return [] }
        defer { closedir(folder) }
        var all: [(path: String, isKept: Bool)] = []
        while let name = FolderNames.next(in: folder) {
            let path = "\(base)/\(name)"
            if isNamed(path), isOurs(path) { all.append((path, isKept(path))) }
        }
        return all.sorted { $0.path < $1.path }
    }

    /// Whether this is a folder of this user alone.
    static func isOurs(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
            && status.st_mode & 0o077 == 0
    }

    /// Whether someone keeps the machines of this folder. If that cannot be told someone does: what nobody keeps is removed.
    static func isKept(_ path: String) -> Bool {
        let lock = open("\(path)/lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard lock >= 0 else { return errno != ENOENT }
        defer { close(lock) }
        return flock(lock, LOCK_SH | LOCK_NB) != 0
    }

    /// The folders whose machines somebody keeps.
    static var kept: [String] { all.filter(\.isKept).map(\.path) }

    /// Ends and removes what others have left behind who were killed.
    @MainLoop
    static func removeAbandoned() async {
        for one in all where !one.isKept { await remove(one.path) }
    }

    /// Ends all that belongs to the machines in this folder, and removes it.
    @MainLoop
    static func remove(_ path: String) async {
        guard isNamed(path), isOurs(path) else { return }
        await MarkedProcesses.end(path)
        // What is mounted there, such as the files of another machine, is not part of it.
        let command = ["/bin/sh", "-c", "exec rm -rf --one-file-system -- \"$0\"", path]
        do throws(CommandFailure) {
            let removing = try ChildProcess(
                command.map { Array($0.utf8) }, environment: ["PATH": "/usr/bin:/bin"])
            if await removing.status(within: .seconds(30)) == 0 { return }
            await removing.end()
        } catch {}
        Output.note(tr("“{folder}” could not be removed. Remove it yourself.", ["folder": path.shown]))
    }
}

/// The processes that belong to two machines: those that have ``Twin/mark`` in their environment.
@MainLoop
enum MarkedProcesses {
    /// Who is about to start another one may do so before it ends itself.
    private static let maximumRounds = 10

    /// Ends them all, except for this one: they are asked to end first.
    static func end(_ twins: String) async {
        for round in 0..<maximumRounds {
            let found = all(twins)
            if found.isEmpty { return }
            let handles = found.map { ProcessHandle(UInt32($0)) }
            for process in found {
                // A shell with somebody at the keyboard does not end for SIGTERM.
                for number in round == 0 ? [SIGTERM, SIGHUP, SIGCONT] : [SIGKILL] {
                    _ = kill(process, number)
                }
            }
            let end = MainLoop.now + 2_000_000
            for handle in handles {
                _ = await handle.end(within: max(.zero, .microseconds(end - MainLoop.now)))
            }
        }
    }

    private static func all(_ twins: String) -> [Int32] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        let mark = Array("\(Twin.mark)=\(twins)".utf8) + [0]
        var found: [Int32] = []
        while let name = FolderNames.next(in: folder) {
            guard let process = Int32(name), process != getpid(),
                let environment = try? SmallFile.read("/proc/\(process)/environ", maximumSize: 4 << 20),
                holds(environment, mark)
            else { continue }
            found.append(process)
        }
        return found
    }

    /// Whether one of these texts, each of which ends with 0, is `mark`.
    private static func holds(_ environment: [UInt8], _ mark: [UInt8]) -> Bool {
        environment.split(separator: 0, omittingEmptySubsequences: true).contains {
            $0.elementsEqual(mark.dropLast())
        }
    }
}
