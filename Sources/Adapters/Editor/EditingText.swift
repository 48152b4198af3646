// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// Activities of the type `org.example.Handoff.EditingText`.
///
/// `DocumentURL` is the file. In `UserInfo` are `application` (s), the editor; `line` and `column` (u), where the cursor is;
/// and `text` (s), the whole text, if it was not saved yet.
enum EditingText {
    /// Whose activities editors continue, all of each other's: the application id of the adapter.
    static let team = HandoffNames.editorAdapter.text

    /// The type.
    static func type() throws(HandoffFailure) -> ActivityType {
        try ActivityType("org.example.Handoff.EditingText")
    }

    /// The entries of `UserInfo`.
    static func userInfo(_ state: EditorState, in editor: KnownEditor) -> Value {
        var entries = state.place.entries
        entries["application"] = .string(editor.id)
        if let text = state.text { entries["text"] = .string(text) }
        return .properties(entries)
    }

    /// What an activity shows here, where its file is at `path`.
    static func state(_ userInfo: [String: Value], at path: String) -> EditorState {
        let text = userInfo["text"]?.string.flatMap { EditorState.isFit($0) ? $0 : nil }
        return EditorState(file: path, place: TextPlace(userInfo), text: text)
    }

    /// What an activity shows on this machine. A text that comes home changed is shown in its original, not saved.
    /// - Throws: if its file is not here, with what to say to the user.
    @MainLoop
    static func state(of activity: HandedActivity, _ looks: FileLooks) async throws -> EditorState {
        let url = activity.properties["DocumentURL"]?.string ?? ""
        let original = activity.properties["OriginalURL"]?.string ?? ""
        let found = try await looks.find(.openedDocument, of: url) { () -> (file: String, text: String?)? in
            guard let path = EditedFile.path(url) else { return nil }
            guard let home = EditedFile.path(original), let text = EditedFile.text(path) else {
                return (path, nil)
            }
            return (home, text)
        }
        guard let found else {
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "The file is not to be had on this device, or has a name that no editor is to be given. Open it on the"
                        + " device that it comes from."))
        }
        var state = state(activity.userInfo, at: found.file)
        state.text = state.text ?? found.text
        return state
    }

    /// `state` is shown, in the original: the copy is needed no longer, if it still is what was shown.
    @MainLoop
    static func shown(_ state: EditorState, _ activity: HandedActivity, _ looks: FileLooks) async {
        let url = activity.properties["DocumentURL"]?.string ?? ""
        _ = await looks.look(.openedDocument, of: url) {
            guard let path = EditedFile.path(url), path != state.file, let text = state.text,
                EditedFile.text(path) == text
            else { return }
            unlink(path)
        }
    }
}

/// What an editor is started for, as `EditorAdapter.TakePending` returns it.
extension EditingText {
    /// As it is returned.
    static func pending(_ state: EditorState) -> [String: Value] {
        var pending: [String: Value] = [
            "Path": .string(state.file), "Line": .uint32(UInt32(state.place.line)),
            "Column": .uint32(UInt32(state.place.column)),
        ]
        if let text = state.text { pending["Text"] = .string(text) }
        return pending
    }

    /// What was returned.
    static func pending(_ pending: [String: Value]) -> EditorState {
        var userInfo: [String: Value] = [:]
        for (name, key) in [("line", "Line"), ("column", "Column"), ("text", "Text")] {
            userInfo[name] = pending[key]
        }
        return state(userInfo, at: pending.text("Path"))
    }
}
