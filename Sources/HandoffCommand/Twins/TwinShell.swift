// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import Platform

/// The user's shell on one of two machines, with the name of the machine in its prompt.
struct TwinShell {
    private let twin: Twin
    private let program: String
    /// What it has in its environment besides that of the machine.
    let variables: [String: String]

    init(_ twin: Twin) {
        self.twin = twin
        let wanted = Variables.all["SHELL"] ?? ""
        program = access(wanted, X_OK) == 0 ? wanted : "/bin/sh"
        let prompt = "(\(twin.name)) "
        switch Self.name(of: program) {
        case "zsh": variables = ["ZDOTDIR": "\(twin.folder)/shell"]
        case "bash", "fish": variables = [:]
        default: variables = ["PS1": "\(prompt)$ "]
        }
    }

    private static func name(of program: String) -> String {
        program.split(separator: "/").last.map(String.init) ?? program
    }

    /// The command that starts it. What it reads first is written into the folder of the machine.
    /// - Throws: why that is not possible.
    func command() throws(CommandFailure) -> [[UInt8]] {
        try words().map { Array($0.utf8) }
    }

    /// The machine's own variables once more: what the user's files say is not to lead out of it.
    private var exports: String { twin.own.map { "export \($0)=\($1)\n" }.sorted().joined() }

    /// `text` as one word of a shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private func words() throws(CommandFailure) -> [String] {
        let (prompt, folder) = ("(\(twin.name)) ", "\(twin.folder)/shell")
        switch Self.name(of: program) {
        case "bash":
            let file = "\(twin.folder)/bashrc"
            let lines = "[ ! -r ~/.bashrc ] || . ~/.bashrc\n\(exports)PS1=\"\(prompt)$PS1\"\n"
            try Twin.write(lines, to: file)
            return [program, "--rcfile", file]
        case "zsh":
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
                throw CommandFailure(
                    tr(
                        "“{file}” cannot be made: {reason}.",
                        ["file": folder.shown, "reason": SystemError.last]))
            }
            let own = Variables.all["ZDOTDIR"]
            let theirs = own.map(Self.quoted) ?? "~"
            try Twin.write(
                "[[ ! -r \(theirs)/.zshenv ]] || . \(theirs)/.zshenv\nZDOTDIR=\(folder)\n",
                to: "\(folder)/.zshenv")
            let lines =
                (own == nil ? "unset ZDOTDIR\n" : "ZDOTDIR=\(theirs)\n")
                + "[[ ! -r \(theirs)/.zshrc ]] || . \(theirs)/.zshrc\n\(exports)PROMPT=\"\(prompt)$PROMPT\"\n"
            try Twin.write(lines, to: "\(folder)/.zshrc")
            return [program]
        case "fish":
            let begin =
                twin.own.map { "set -gx \($0) \($1); " }.sorted().joined()
                + "functions -q fish_prompt; and functions -c fish_prompt fish_prompt_before; "
                + "function fish_prompt; echo -n '\(prompt)'; "
                + "functions -q fish_prompt_before; and fish_prompt_before; end"
            return [program, "--init-command", begin]
        default: return [program]
        }
    }
}
