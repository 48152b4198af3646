// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport

/// Where the user of an editor is: `file`, or `name` if no file holds the text, `line`, `column`, `text` and `folder` of a message.
struct EditorState: PluginState {
    /// What is edited.
    let document: ShownDocument
    /// The place of the cursor.
    let place: TextPlace
    /// The whole text, if it was not saved yet, and is not too long to go along.
    var text: String?
    /// The folder that the editor's window shows, an absolute path; nil if it shows none.
    var folder: String?
}

extension EditorState {
    /// The state that a message names; nil if it names none, or a file that is none of ours.
    init?(_ message: JSONValue) {
        guard let document = ShownDocument(file: message["file"]?.text, name: message["name"]?.text),
            let place = TextPlace(message)
        else { return nil }
        let text = message["text"]?.text.flatMap { Self.isFit($0) ? $0 : nil }
        let folder = message["folder"]?.text.flatMap { OwnFolder.isUsable($0) ? $0 : nil }
        self.init(document: document, place: place, text: text, folder: folder)
    }

    /// Whether `text` may go along.
    static func isFit(_ text: String) -> Bool {
        text.utf8.count <= TextFile.maximumText && !text.utf8.contains(0)
    }
}

/// What the plugin of an editor is asked, one JSON object on a line.
enum EditorQuestion: PluginQuestion, Equatable {
    /// Where the user is, and the text if it is not saved.
    case state
    /// To show this file at this place, with this text as one that is not saved yet, if there is one.
    case open(EditorState)

    var members: [String: JSONValue] {
        guard case .open(let state) = self else { return ["ask": "save"] }
        var members: [String: JSONValue] = [
            "ask": "open", "line": .integer(state.place.line), "column": .integer(state.place.column),
        ]
        switch state.document {
        case .file(let path): members["file"] = .string(path)
        case .untitled(let name): members["name"] = .string(name)
        }
        if let text = state.text { members["text"] = .string(text) }
        if let folder = state.folder { members["folder"] = .string(folder) }
        return members
    }
}
