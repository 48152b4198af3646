// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import Platform

/// Where the user of the office is.
struct OfficeState: Equatable, Sendable {
    /// In which of its applications.
    let application: OfficeApplication
    /// At which document.
    let document: ShownDocument
    /// Where in it; nil if that is not known.
    let place: OfficePlace?
    /// Where the extension has left a copy, since the document was not saved.
    var copy: String?
}

/// What the extension in the office says, one JSON object on a line.
enum OfficeMessage: PluginMessage, Equatable {
    /// The user is at this document: `{"event": "front", "application": …, "file": …, …}` and its place: `page`, `sheet` and
    /// `cell`, or `slide`. One that no file holds has a `name` instead of `file`.
    case front(OfficeState)
    /// The user is at something else, which is none of ours: `{"event": "left"}`.
    case left
    /// There is no document any more that may go on elsewhere: `{"event": "closed"}`.
    case closed
    /// It is asked where the user is, and this is its answer; nil if it has none:
    /// `{"answer": …, "application": …, "file": …, …, "copy": …}`.
    case state(Int64, OfficeState?)
    /// It was asked to open something, and has done so: `{"answer": …, "opened": true}`.
    case opened(Int64, Bool)

    init?(_ line: [UInt8]) {
        guard let message = try? JSONValue.read(line) else { return nil }
        if let number = message["answer"]?.integer {
            self =
                message["opened"]?.boolean.map { .opened(number, $0) } ?? .state(number, OfficeState(message))
            return
        }
        switch message["event"]?.text {
        case "front":
            guard let state = OfficeState(message) else { return nil }
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

extension OfficeState {
    /// The state that a message names; nil if it names none, or a document that is none of ours.
    init?(_ message: JSONValue) {
        guard let application = message["application"]?.text.flatMap(OfficeApplication.init(rawValue:)),
            let document = ShownDocument(file: message["file"]?.text, name: message["name"]?.text)
        else { return nil }
        self.init(
            application: application, document: document, place: OfficePlace(message),
            copy: message["copy"]?.text)
    }
}

/// What the extension is asked, one JSON object on a line.
enum OfficeQuestion: PluginQuestion, Equatable {
    /// Where the user is. If the document is not saved, a copy of it has to be left in this folder.
    case save(folder: String)
    /// To show a document.
    case open(OfficeErrand)

    var members: [String: JSONValue] {
        switch self {
        case .save(let folder): ["ask": "save", "folder": .string(folder)]
        case .open(let errand): errand.members
        }
    }
}
