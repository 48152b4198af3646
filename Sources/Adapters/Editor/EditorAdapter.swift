// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// The adapter `editor`.
package enum EditorAdapter {
    /// What `DisabledAdapters` calls it.
    static let name = "editor"

    /// The adapter as a program: with `--stdio EDITOR` the child of an editor's plugin, with `--run ERRAND` what runs in
    /// a terminal, else what the bus starts.
    package static let program = AdapterProgram(name) { arguments in
        if arguments.count == 3 {
            if arguments[1] == "--stdio" { return attend(arguments[2]) }
            if arguments[1] == "--run" { return run(arguments[2]) }
        }
        return AdapterService.run(
            name, busName: HandoffNames.editorAdapter,
            summary: "Continue texts in the editors of this session.", arguments: arguments,
            make: { service, _ in EditorCatcher(service) }, begin: { try $0.begin() })
    }

    /// Stands for the editor `id`, whose plugin has started this.
    private static func attend(_ id: String) -> Int32 {
        guard let editor = KnownEditor.called(id), editor.takesText else {
            Log.useStandardError()
            adapterLog.warning(
                "\(PeerText.message(id)) is not a known editor. Call it with one of"
                    + " \(KnownEditor.all.filter(\.takesText).map(\.id).joined(separator: ", ")).")
            return 2
        }
        return PluginChild.run(
            name, for: editor.name, isExcluded: { $0.contains(editor.id) },
            make: { try EditorSession(editor, $0) })
    }

    /// Becomes the program that an errand names, in a terminal that has the title which stands in front of it.
    private static func run(_ errand: String) -> Int32 {
        Log.useStandardError()
        guard let words = Errand.take(errand), words.count > 1, words[1].hasPrefix("/") else {
            adapterLog.warning("There is nothing to be run here any more. Continue the activity again.")
            return 1
        }
        // XTerm Control Sequences, "Operating System Commands". Otherwise many terminals show the name of this program.
        let title = Array("\u{1b}]0;\(words[0])\u{7}".utf8)
        _ = write(STDOUT_FILENO, title, title.count)
        ProgramExchange.become(words[1], Array(words[1...]))
        adapterLog.warning("\(words[1]) cannot be run: \(SystemError.last).")
        return 1
    }
}
