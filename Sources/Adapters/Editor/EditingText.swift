// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// Activities of the type `org.example.Handoff.EditingText`.
///
/// `DocumentURL` is the file; a text that no file holds has none. In `UserInfo` are `application` (s), the editor; `line` and
/// `column` (u), where the cursor is; `text` (s), the whole text, if it was not saved yet; `name` (s), what the editor calls a
/// text that no file holds; and `folder`, a tagged URL, the folder that the editor's window shows.
enum EditingText {
    /// Whose activities editors continue, all of each other's.
    static let team = HandoffNames.team("Editor")

    /// The type.
    static func type() throws(HandoffFailure) -> ActivityType {
        try ActivityType("org.example.Handoff.EditingText")
    }

    /// The entries of `UserInfo`.
    static func userInfo(_ state: EditorState, in editor: KnownEditor) -> Value {
        var entries = state.place.entries
        entries["application"] = .string(editor.id)
        if let text = state.text { entries["text"] = .string(text) }
        if case .untitled(let name) = state.document { entries["name"] = .string(name) }
        entries["folder"] = state.folder.flatMap(OwnFolder.value)
        return .properties(entries)
    }

    /// What an activity shows here, whose text is `document`.
    static func state(_ userInfo: [String: Value], of document: ShownDocument) -> EditorState {
        let text = userInfo["text"]?.string.flatMap { EditorState.isFit($0) ? $0 : nil }
        return EditorState(document: document, place: TextPlace(userInfo), text: text)
    }

    /// What an activity shows on this machine. A text that comes home changed is shown in its original, not saved.
    /// - Throws: if its file is not here, with what to say to the user.
    @MainLoop
    static func state(of activity: HandedActivity, _ looks: FileLooks) async throws -> EditorState {
        let url = activity.properties["DocumentURL"]?.string ?? ""
        let original = activity.properties["OriginalURL"]?.string ?? ""
        let folder = OwnFolder.path(activity.userInfo["folder"])
        let isOwnFolder = try await looks.find(.openedDocument, of: folder ?? "/") {
            folder.map { OwnFolder.look(at: $0) } == .folder
        }
        // Where it is shown the user decides.
        if url.isEmpty, let untitled = untitled(activity.userInfo) { return untitled }
        let found = try await looks.find(.openedDocument, of: url) { () -> (file: String, text: String?)? in
            guard let path = UserFile.path(url) else { return nil }
            guard let home = UserFile.path(original), let text = TextFile.text(path) else {
                return (path, nil)
            }
            return (home, text)
        }
        guard let found else {
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "The file is not available on this device, or has a name that is not given to editors. "
                        + "Open it on the device that it comes from."))
        }
        var state = state(activity.userInfo, of: .file(found.file))
        state.text = state.text ?? found.text
        return within(isOwnFolder && !activity.isDocumentNew ? folder : nil, state)
    }

    /// A text that no file holds; nil if there is none.
    private static func untitled(_ userInfo: [String: Value]) -> EditorState? {
        guard let document = ShownDocument(file: nil, name: userInfo["name"]?.string) else { return nil }
        let state = state(userInfo, of: document)
        return state.text == nil ? nil : state
    }

    /// `state` in a window that shows `folder`, if the file is in it: a copy elsewhere has nothing to do with it.
    private static func within(_ folder: String?, _ state: EditorState) -> EditorState {
        var state = state
        if let folder, folder != "/", state.document.path?.utf8.starts(with: "\(folder)/".utf8) == true {
            state.folder = folder
        }
        return state
    }

    /// `state` is shown, in the original: the copy is needed no longer, if it still is what was shown.
    @MainLoop
    static func shown(_ state: EditorState, _ activity: HandedActivity, _ looks: FileLooks) async {
        let url = activity.properties["DocumentURL"]?.string ?? ""
        _ = await looks.look(.openedDocument, of: url) {
            guard let path = UserFile.path(url), path != state.document.path, let text = state.text,
                TextFile.text(path) == text
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
            "Line": .uint32(UInt32(state.place.line)), "Column": .uint32(UInt32(state.place.column)),
        ]
        switch state.document {
        case .file(let path): pending["Path"] = .string(path)
        case .untitled(let name): pending["Name"] = .string(name)
        }
        pending["Text"] = state.text.map { .string($0) }
        pending["Folder"] = state.folder.map { .string($0) }
        return pending
    }

    /// What was returned; nil for nothing.
    static func pending(_ pending: [String: Value]) -> EditorState? {
        let document = ShownDocument(file: pending["Path"]?.string, name: pending["Name"]?.string)
        guard let document else { return nil }
        var userInfo: [String: Value] = [:]
        for (name, key) in [("line", "Line"), ("column", "Column"), ("text", "Text")] {
            userInfo[name] = pending[key]
        }
        var state = state(userInfo, of: document)
        state.folder = pending["Folder"]?.string.flatMap { OwnFolder.isUsable($0) ? $0 : nil }
        return state
    }
}
