// SPDX-License-Identifier: LGPL-2.1-or-later

/// An editor that has a plugin for Handoff.
struct KnownEditor: Equatable, Sendable {
    /// The name of its desktop entry, without `.desktop`.
    let id: String
    /// What people call it.
    let name: String
    /// Its programs: the first one that is installed counts.
    let programs: [Program]

    /// A program of an editor.
    struct Program: Equatable, Sendable {
        /// Its name, to be looked for in `$PATH`.
        let name: String
        /// Whether it needs a terminal to run in.
        let isForTerminal: Bool
    }

    /// How its command line names a place.
    private enum Style { case line, lineAndColumn }
    private let style: Style
    /// Whether it knows that options end where `--` stands.
    private let endsOptions: Bool

    /// All of them, those with windows first.
    static let all = [
        KnownEditor(
            id: "org.gnome.gedit", name: "gedit", programs: [Program(name: "gedit", isForTerminal: false)],
            style: .lineAndColumn, endsOptions: false),
        KnownEditor(
            id: "emacs", name: "Emacs",
            programs: [
                Program(name: "emacs-pgtk", isForTerminal: false),
                Program(name: "emacs-gtk", isForTerminal: false),
                Program(name: "emacs-lucid", isForTerminal: false),
                // Which kind this is cannot be told, and in a terminal each of them can run.
                Program(name: "emacs", isForTerminal: true),
            ], style: .lineAndColumn, endsOptions: false),
        KnownEditor(
            id: "nvim", name: "Neovim", programs: [Program(name: "nvim", isForTerminal: true)], style: .line,
            endsOptions: true),
        KnownEditor(
            id: "vim", name: "Vim", programs: [Program(name: "vim", isForTerminal: true)], style: .line,
            endsOptions: true),
    ]

    /// The editor with this id; nil if none of them has it.
    static func called(_ id: String) -> KnownEditor? { all.first { $0.id == id } }

    /// What has to follow the program's name so that `file`, an absolute path, is shown at `place`. The only option is made
    /// of numbers.
    func arguments(_ file: String, _ place: TextPlace, for program: Program) -> [String] {
        let option =
            switch style {
            case .line: "+\(place.line)"
            case .lineAndColumn: "+\(place.line):\(place.column)"
            }
        // An Emacs that could have a window shows it in the terminal that was opened for it.
        let first = id == "emacs" && program.isForTerminal ? ["-nw"] : []
        return first + [option] + (endsOptions ? ["--"] : []) + [file]
    }

    /// The editors to be tried for something that comes from `origin`, the best first.
    /// - Parameters:
    ///   - preferred: the user's own choice for text.
    ///   - hasText: whether there is text that only an editor with a plugin can be given.
    static func candidates(origin: String, preferred: String?, hasText: Bool) -> [KnownEditor] {
        var ids = [origin]
        if let preferred { ids.append(preferred) }
        if hasText { ids += all.map(\.id) }
        var candidates: [KnownEditor] = []
        for id in ids {
            if let editor = called(id), !candidates.contains(editor) { candidates.append(editor) }
        }
        return candidates
    }
}
