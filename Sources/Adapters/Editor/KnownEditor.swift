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
        /// Where it shows what it edits.
        let surface: Surface
    }

    /// Where a program shows what it edits.
    enum Surface: Equatable, Sendable {
        /// In a window of its own.
        case window
        /// In the terminal that it runs in.
        case terminal
        /// In a window where there is a display and it was built for that, else in a terminal. Only the program itself
        /// knows how it was built.
        case either
    }

    /// How its command line names a place.
    private enum Style { case line, lineAndColumn }
    private let style: Style
    /// Whether it knows that options end where `--` stands.
    private let endsOptions: Bool

    /// All of them, those with windows first.
    static let all = [
        KnownEditor(
            id: "org.gnome.gedit", name: "gedit", programs: [Program(name: "gedit", surface: .window)],
            style: .lineAndColumn, endsOptions: false),
        KnownEditor(
            id: "emacs", name: "Emacs",
            // The first is whichever of the others the administrator has chosen.
            programs: ["emacs", "emacs-gtk", "emacs-pgtk", "emacs-lucid", "emacs-nox"].map {
                Program(name: $0, surface: .either)
            }, style: .lineAndColumn, endsOptions: false),
        KnownEditor(
            id: "nvim", name: "Neovim", programs: [Program(name: "nvim", surface: .terminal)], style: .line,
            endsOptions: true),
        KnownEditor(
            id: "vim", name: "Vim", programs: [Program(name: "vim", surface: .terminal)], style: .line,
            endsOptions: true),
    ]

    /// The editor with this id; nil if none of them has it.
    static func called(_ id: String) -> KnownEditor? { all.first { $0.id == id } }

    /// What has to follow the program's name so that `file`, an absolute path, is shown at `place`. The only option is made
    /// of numbers.
    /// - Parameter inTerminal: whether it runs in a terminal.
    func arguments(_ file: String, _ place: TextPlace, inTerminal: Bool) -> [String] {
        let option =
            switch style {
            case .line: "+\(place.line)"
            case .lineAndColumn: "+\(place.line):\(place.column)"
            }
        // An Emacs that could have a window of its own is to use the terminal that was opened for it.
        let first = id == "emacs" && inTerminal ? ["-nw"] : []
        return first + [option] + (endsOptions ? ["--"] : []) + [file]
    }

    /// What has to follow the name of a program whose surface is ``Surface/either`` so that it does nothing but end, with
    /// success if it can have a window.
    static let windowQuestion = [
        "-Q", "--batch", "--eval",
        "(kill-emacs (if (and (fboundp 'x-create-frame) (or (getenv \"DISPLAY\") (featurep 'pgtk))) 0 1))",
    ]

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
