// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// One of the two machines that `handoff twins` makes: a folder, and an environment that leads everywhere into it.
struct Twin {
    /// What the two are called.
    static let names = ["desk", "lap"]
    /// The variable that names the folder of both. Whatever has it belongs to them, and ends with them.
    static let mark = "HANDOFF_TWINS"
    /// The names, for people to read.
    static var list: String { tr("{first} and {second}", ["first": names[0], "second": names[1]]) }

    /// The folder of both.
    let twins: String
    /// What this one is called.
    let name: String

    /// Its own folder.
    var folder: String { "\(twins)/\(name)" }
    /// Where its session bus is.
    var address: String { "unix:path=\(Self.escaped("\(folder)/bus"))" }

    private var folders: [String: String] {
        [
            "XDG_CONFIG_HOME": "\(folder)/config", "XDG_STATE_HOME": "\(folder)/state",
            "XDG_DATA_HOME": "\(folder)/data", "XDG_CACHE_HOME": "\(folder)/cache",
            "XDG_RUNTIME_DIR": "\(folder)/runtime",
        ]
    }

    /// What tells whatever runs there where it is. None of the values means anything but itself to a shell.
    var own: [String: String] {
        [Self.mark: twins, "HANDOFF_TWIN": name, "DBUS_SESSION_BUS_ADDRESS": address].merging(folders) { $1 }
    }

    /// The environment of what runs there. Screen and sound are those of this machine.
    var environment: [String: String] {
        var variables = Variables.all
        let runtime = variables["XDG_RUNTIME_DIR"] ?? ""
        for name in [
            "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "NOTIFY_SOCKET", "XDG_ACTIVATION_TOKEN",
        ] {
            variables[name] = nil
        }
        let screen = variables["WAYLAND_DISPLAY"] ?? "wayland-0"
        let whole = screen.hasPrefix("/") ? screen : "\(runtime)/\(screen)"
        if access(whole, F_OK) == 0 { variables["WAYLAND_DISPLAY"] = whole }
        if access("\(runtime)/pulse/native", F_OK) == 0, variables["PULSE_SERVER"] == nil {
            variables["PULSE_SERVER"] = "unix:\(runtime)/pulse/native"
        }
        if variables["PIPEWIRE_RUNTIME_DIR"] == nil { variables["PIPEWIRE_RUNTIME_DIR"] = runtime }
        if let own = OwnProgram.folder {
            variables["PATH"] = "\(own):\(variables["PATH"] ?? "/usr/bin:/bin")"
        }
        return variables.merging(own) { $1 }
    }

    /// Makes its folders, which are empty but for its name.
    /// - Throws: why that is not possible.
    func make() throws(CommandFailure) {
        let downloads = "\(folder)/downloads"
        let shared = "\(twins)/shared"
        for path in [folder, downloads, shared, "\(folder)/config/handoff", "\(folder)/data/dbus-1/services"]
            + folders.values.sorted()
        {
            guard g_mkdir_with_parents(path, 0o700) == 0 else {
                throw CommandFailure(
                    tr(
                        "“{file}” cannot be made: {reason}.",
                        ["file": path.shown, "reason": SystemError.last]))
            }
        }
        try Self.write(
            "[Device]\nName=\(name)\n[Shared Folders]\nTwins=\(shared)\n",
            to: "\(folder)/config/handoff/handoff.conf")
        // The daemons that are installed are not started here: these two have their own.
        for daemon in [HandoffNames.broker.text, HandoffNames.bridge.text] {
            try Self.write(
                "[D-BUS Service]\nName=\(daemon)\nExec=/bin/false\n",
                to: "\(folder)/data/dbus-1/services/\(daemon).service")
        }
        // Documents that come over do not mix with those of the user.
        try Self.write("XDG_DOWNLOAD_DIR=\"\(downloads)\"\n", to: "\(folder)/config/user-dirs.dirs")
    }

    /// Writes a small file.
    static func write(_ text: String, to path: String) throws(CommandFailure) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { if file >= 0 { close(file) } }
        let bytes = Array(text.utf8)
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw CommandFailure(
                tr("“{file}” cannot be written: {reason}.", ["file": path.shown, "reason": SystemError.last]))
        }
    }

    /// `path` as it stands in an address (D-Bus Specification, "Server Addresses").
    private static func escaped(_ path: String) -> String {
        path.utf8.reduce(into: "") { text, byte in
            let scalar = Unicode.Scalar(byte)
            if scalar.properties.isAlphabetic && byte < 0x80 || "0123456789-_/.\\*".utf8.contains(byte) {
                text.unicodeScalars.append(scalar)
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }
}
