// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import Platform

/// Where the user of an editor is.
struct EditorState: Equatable, Sendable {
    /// What is edited.
    let document: ShownDocument
    /// The place of the cursor.
    let place: TextPlace
    /// The whole text, if it was not saved yet, and is not too long to go along.
    var text: String?
    /// The folder that the editor's window shows, an absolute path; nil if it shows none.
    var folder: String?
}

/// What the plugin of an editor says, one JSON object on a line.
enum EditorMessage: PluginMessage, Equatable {
    /// The user is at this text: `{"event": "front", "file": …, "line": …, "column": …, "folder": …}`. One that no file holds
    /// has a `name` instead of `file`.
    case front(EditorState)
    /// The user is at something else, which is none of ours: `{"event": "left"}`.
    case left
    /// There is no text any more: `{"event": "closed"}`.
    case closed
    /// It is asked where the user is, and this is its answer; nil if it has none:
    /// `{"answer": …, "file": …, "line": …, "column": …, "text": …, "folder": …}`.
    case state(Int64, EditorState?)
    /// It was asked to open something, and has done so: `{"answer": …, "opened": true}`.
    case opened(Int64, Bool)

    init?(_ line: [UInt8]) {
        guard let message = try? JSONValue.read(line) else { return nil }
        if let number = message["answer"]?.integer {
            self =
                message["opened"]?.boolean.map { .opened(number, $0) } ?? .state(number, EditorState(message))
            return
        }
        switch message["event"]?.text {
        case "front":
            guard let state = EditorState(message) else { return nil }
            self = .front(state)
        case "left": self = .left
        case "closed": self = .closed
        default: return nil
        }
    }

    var answers: Int64? {
        switch self {
        case .state(let number, _), .opened(let number, _): number
        default: nil
        }
    }
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
