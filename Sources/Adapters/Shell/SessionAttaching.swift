// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import CGio
internal import Glibc
internal import HandoffCore
internal import Platform

/// The name of a session of tmux that may be told, and attached to by a shell at the other end of ssh.
struct SessionName: Equatable, Sendable {
    /// It.
    let text: String

    /// How many characters it may have.
    static let maximum = 64

    /// The name `text`; nil if a shell or tmux could take it for anything else than a name: it has letters, digits, `_` and
    /// `-` alone, and does not begin with `-`.
    init?(_ text: String) {
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
            default: false
            }
        }
        guard 1...Self.maximum ~= text.utf8.count, text.utf8.first.map(isPlain) == true,
            text.utf8.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: "-") })
        else { return nil }
        self.text = text
    }

    /// What attaches to it on `host` (ssh(1), tmux(1)). The shell there has to take the name as it is: zsh would look for a
    /// program `=NAME`.
    func command(on host: String) -> [String] { ["ssh", "-t", "--", host, "tmux attach -t '=\(text)'"] }
}

/// What runs in a terminal that was opened for a session of another device. Before the first time for a device, and again if
/// its host is another, the user sees the command and allows it.
enum SessionAttaching {
    /// Does so, for an errand whose words are the name of the device, its id, the host, and the session.
    /// - Returns: the exit status.
    static func run(_ errand: String) -> Int32 {
        Log.useStandardError()
        guard let words = Errand.take(errand), words.count == 4, SessionHosts.isHost(words[2]),
            let device = DeviceID(words[1]), let session = SessionName(words[3])
        else {
            adapterLog.warning("There is nothing to continue any more. Continue the activity again.")
            return 1
        }
        let command = session.command(on: words[2])
        var allowed = AllowedSessions.read()
        if !allowed.holds(device, words[2]) {
            let name = ChosenText(name: words[0]).shown
            print(
                tr(
                    "The session “{session}” of “{device}” is opened by this command:",
                    ["session": session.text, "device": name])
                    + "\n\n    \(command.dropLast().joined(separator: " ")) \"\(command[command.count - 1])\"\n"
            )
            print(
                tr("Run it now, and from now on for every session of this device? [y/N]"), terminator: " ")
            fflush(nil)
            guard TypedAnswer.agrees(readLine()) == true else { return 0 }
            allowed.add(device, words[2])
            allowed.write()
        }
        return attach(command)
    }

    /// Runs `command` in this terminal, which stays if that fails, so that its user can see why.
    private static func attach(_ command: [String]) -> Int32 {
        let list = command.map { strdup($0) } + [nil]
        defer { for word in list { free(word) } }
        var words = list
        var status: Int32 = 0
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        let flags = GSpawnFlags(G_SPAWN_SEARCH_PATH.rawValue | G_SPAWN_CHILD_INHERITS_STDIN.rawValue)
        let hasRun = g_spawn_sync(nil, &words, nil, flags, nil, nil, nil, nil, &status, &error) != 0
        if hasRun, status == 0 { return 0 }
        if let error { print(String(cString: error.pointee.message)) }
        print(tr("The command has failed. Press Enter to close this."), terminator: " ")
        fflush(nil)
        _ = readLine()
        return 1
    }
}

/// The devices whose sessions the user has allowed to be attached to, each with its host, a line for each.
struct AllowedSessions: Equatable {
    private var lines: [String]

    /// How large the file may be, in bytes.
    private static let maximumSize = 64 << 10

    private static var path: String { "\(UserDirectories.state)/handoff/sessions" }

    /// Those of `text`, what the file has.
    init(_ text: String) { lines = text.split(separator: "\n").map(String.init) }

    /// What the user has allowed. This may block.
    static func read() -> AllowedSessions {
        let bytes = (try? SmallFile.read(path, maximumSize: maximumSize)) ?? nil
        return AllowedSessions(String(decoding: bytes ?? [], as: UTF8.self))
    }

    /// Whether those of `device` are allowed at `host`.
    func holds(_ device: DeviceID, _ host: String) -> Bool { lines.contains("\(device) \(host)") }

    /// They are allowed from now on, at no other host.
    mutating func add(_ device: DeviceID, _ host: String) {
        lines.removeAll { $0.hasPrefix("\(device) ") }
        lines.append("\(device) \(host)")
    }

    /// What the file has.
    var text: String { lines.map { $0 + "\n" }.joined() }

    /// Keeps them. This may block. If that fails, the user is asked again.
    func write() { try? SmallFile.write(Array(text.utf8), to: Self.path) }
}
