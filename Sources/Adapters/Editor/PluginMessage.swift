// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import Platform

/// Where the user of an editor is.
struct EditorState: Equatable, Sendable {
    /// The file, an absolute path.
    let file: String
    /// The place of the cursor.
    let place: TextPlace
    /// The whole text, if it was not saved yet, and is not too long to go along.
    var text: String?
}

/// What the plugin of an editor says, one JSON object on a line.
enum PluginMessage: Equatable, Sendable {
    /// The user is at this file: `{"event": "front", "file": …, "line": …, "column": …}`.
    case front(EditorState)
    /// The user is at something else, which is none of ours: `{"event": "left"}`.
    case left
    /// There is no file any more: `{"event": "closed"}`.
    case closed
    /// It is asked where the user is, and this is its answer; nil if it has none:
    /// `{"answer": …, "file": …, "line": …, "column": …, "text": …}`.
    case state(Int64, EditorState?)
    /// It was asked to open something, and has done so: `{"answer": …, "opened": true}`.
    case opened(Int64, Bool)

    /// The message that `line` is; nil if it is none.
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
}

extension EditorState {
    /// The state that a message names; nil if it names none, or a file that is none of ours.
    init?(_ message: JSONValue) {
        guard let file = message["file"]?.text, TextFile.isUsable(file), !PrivateFiles.isPrivate(file),
            let place = TextPlace(message)
        else { return nil }
        let text = message["text"]?.text.flatMap { Self.isFit($0) ? $0 : nil }
        self.init(file: file, place: place, text: text)
    }

    /// Whether `text` may go along.
    static func isFit(_ text: String) -> Bool {
        text.utf8.count <= TextFile.maximumText && !text.utf8.contains(0)
    }
}

/// What a plugin is asked, one JSON object on a line.
enum PluginQuestion: Equatable, Sendable {
    /// To say what is in front, as it does when that is another. It is no question: there is no answer but that.
    case front
    /// Where the user is, and the text if it is not saved.
    case state
    /// To show this file at this place, with this text as one that is not saved yet, if there is one.
    case open(EditorState)

    /// The question under `number`, as a line.
    func line(_ number: Int64) -> [UInt8] {
        var members: [String: JSONValue] = ["id": .number(Double(number))]
        switch self {
        case .front: members["ask"] = "front"
        case .state: members["ask"] = "save"
        case .open(let state):
            members["ask"] = "open"
            members["file"] = .string(state.file)
            members["line"] = .integer(state.place.line)
            members["column"] = .integer(state.place.column)
            if let text = state.text { members["text"] = .string(text) }
        }
        return JSONValue.object(members).bytes + [UInt8(ascii: "\n")]
    }
}
