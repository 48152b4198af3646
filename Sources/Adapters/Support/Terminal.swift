// SPDX-License-Identifier: LGPL-2.1-or-later

/// A program that shows a window in which another program runs.
package struct Terminal: Equatable, Sendable {
    /// Its name, to be looked for in `$PATH`.
    package let program: String
    /// What stands between it and the command that it is to run.
    let options: [String]

    /// The command line that runs `words` in the terminal that was found at `path`. Some terminals put the words together
    /// and give them to a shell, so they must be of letters, digits and `/.-_` alone.
    package func command(_ path: String, running words: [String]) -> [String] { [path] + options + words }

    /// What is asked first, because it knows what the user prefers.
    private static let chosen = Terminal(program: "xdg-terminal-exec", options: [])
    /// What the administrator has chosen, where that is done as in Debian.
    private static let alternative = Terminal(program: "x-terminal-emulator", options: ["-e"])
    /// The terminals of desktops, by what these call themselves in `$XDG_CURRENT_DESKTOP`.
    private static let own: [(desktop: String, terminal: Terminal)] = [
        ("GNOME", Terminal(program: "gnome-terminal", options: ["--"])),
        ("GNOME", Terminal(program: "kgx", options: ["--"])),
        ("KDE", Terminal(program: "konsole", options: ["-e"])),
        ("XFCE", Terminal(program: "xfce4-terminal", options: ["-x"])),
        ("MATE", Terminal(program: "mate-terminal", options: ["-x"])),
    ]
    /// What belongs to no desktop.
    private static let others = [
        Terminal(program: "alacritty", options: ["-e"]), Terminal(program: "kitty", options: []),
        Terminal(program: "foot", options: []), Terminal(program: "xterm", options: ["-e"]),
    ]

    /// All terminals that are known, the best one for `desktop` first, which is the value of `$XDG_CURRENT_DESKTOP`.
    package static func candidates(desktop: String) -> [Terminal] {
        let desktops = desktop.split(separator: ":").map { $0.uppercased() }
        let fitting = own.filter { desktops.contains($0.desktop) }.map(\.terminal)
        let rest = own.map(\.terminal).filter { !fitting.contains($0) }
        return [chosen] + fitting + [alternative] + rest + others
    }

    /// The best terminal for `desktop` that is installed, and where: what `find` says of the name of a program.
    package static func installed(
        desktop: String, find: (String) -> String?
    ) -> (terminal: Terminal, path: String)? {
        for terminal in candidates(desktop: desktop) {
            if let path = find(terminal.program) { return (terminal, path) }
        }
        return nil
    }
}
