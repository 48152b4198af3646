// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport

/// An editor that can be told where in a file to go; nearly all have a plugin for Handoff.
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
    private enum Style {
        /// `+LINE FILE`, where options end with `--`.
        case line
        /// `+LINE:COLUMN FILE`.
        case lineAndColumn
        /// `--line LINE --column COLUMN FILE`, as Kate has it, which takes no text: it has no plugin.
        case options
        /// `FOLDER --goto FILE:LINE:COLUMN`, as VS Code and its kin have it.
        case goto
    }
    private let style: Style

    /// Whether it can show a text that no file holds.
    var takesUntitled: Bool { style == .goto }

    /// Whether it can be given text that was not saved.
    var takesText: Bool { style != .options }

    /// VS Code, or one of its kin, whose desktop entry and program have one name.
    private static func code(_ id: String, _ name: String) -> KnownEditor {
        KnownEditor(id: id, name: name, programs: [Program(name: id, surface: .window)], style: .goto)
    }

    /// All of them, those with windows first.
    static let all = [
        KnownEditor(
            id: "org.gnome.gedit", name: "gedit", programs: [Program(name: "gedit", surface: .window)],
            style: .lineAndColumn),
        code("code", "Visual Studio Code"), code("codium", "VSCodium"), code("cursor", "Cursor"),
        code("code-oss", "Code - OSS"), code("windsurf", "Windsurf"),
        KnownEditor(
            id: "org.kde.kate", name: "Kate", programs: [Program(name: "kate", surface: .window)],
            style: .options),
        KnownEditor(
            id: "org.kde.kwrite", name: "KWrite", programs: [Program(name: "kwrite", surface: .window)],
            style: .options),
        KnownEditor(
            id: "emacs", name: "Emacs",
            // The first is whichever of the others the administrator has chosen.
            programs: ["emacs", "emacs-gtk", "emacs-pgtk", "emacs-lucid", "emacs-nox"].map {
                Program(name: $0, surface: .either)
            }, style: .lineAndColumn),
        KnownEditor(
            id: "nvim", name: "Neovim", programs: [Program(name: "nvim", surface: .terminal)], style: .line),
        KnownEditor(
            id: "vim", name: "Vim", programs: [Program(name: "vim", surface: .terminal)], style: .line),
    ]

    /// The editor with this id; nil if none of them has it.
    static func called(_ id: String) -> KnownEditor? { all.first { $0.id == id } }

    /// What has to follow the program's name so that it shows `state`. Options are made of numbers, and of paths that begin
    /// with a slash.
    /// - Parameter inTerminal: whether it runs in a terminal.
    func arguments(_ state: EditorState, inTerminal: Bool) -> [String] {
        let place = state.place
        // Without a file there is a window for its plugin, which takes the text.
        guard let file = state.document.path else { return state.folder.map { [$0] } ?? [] }
        switch style {
        case .options: return ["--line", "\(place.line)", "--column", "\(place.column)", file]
        case .line: return ["+\(place.line)", "--", file]
        case .lineAndColumn:
            // An Emacs that could have a window of its own is to use the terminal that was opened for it.
            return (id == "emacs" && inTerminal ? ["-nw"] : []) + ["+\(place.line):\(place.column)", file]
        case .goto:
            // A colon in the name would be taken for what stands before a line; then the plugin alone goes there.
            let words =
                file.utf8.contains(UInt8(ascii: ":"))
                ? [file] : ["--goto", "\(file):\(place.line):\(place.column)"]
            return (state.folder.map { [$0] } ?? []) + words
        }
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
            if let editor = called(id), editor.takesText || !hasText, !candidates.contains(editor) {
                candidates.append(editor)
            }
        }
        return candidates
    }
}
