// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport

/// Where the user of the office is: `application`, `file`, or `name` if no file holds the document, the place, and `copy` of a
/// message. The place is `page`, `sheet` and `cell`, or `slide`.
struct OfficeState: PluginState {
    /// In which of its applications.
    let application: OfficeApplication
    /// At which document.
    let document: ShownDocument
    /// Where in it; nil if that is not known.
    let place: OfficePlace?
    /// Where the extension has left a copy, since the document was not saved.
    var copy: String?
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
    /// Where the user is in this document. If it is not saved, a copy of it has to be left in this folder.
    case save(ShownDocument, folder: String)
    /// To show a document.
    case open(OfficeTask)

    var members: [String: JSONValue] {
        switch self {
        case .save(.file(let path), let folder):
            ["ask": "save", "file": .string(path), "folder": .string(folder)]
        case .save(.untitled(let name), let folder):
            ["ask": "save", "name": .string(name), "folder": .string(folder)]
        case .open(let task): task.members
        }
    }
}
