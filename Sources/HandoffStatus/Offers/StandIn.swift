// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// What stands here for applications that do not know Handoff, by the end of its desktop entry's name. It continues what is offered in
/// one of them, so it is none of the applications that people know.
package enum StandIn: String, CaseIterable, Sendable {
    case browser = "Browser"
    case documents = "Documents"
    case editor = "Editor"
    case media = "Media"
    case office = "Office"
    case shell = "Shell"

    /// The one of that desktop entry; nil if it is another application's.
    package init?(id: String) {
        let prefix = Vendor.applicationID + "."
        guard id.hasPrefix(prefix) else { return nil }
        self.init(rawValue: String(id.dropFirst(prefix.count)))
    }

    /// Whether it continues something in the application that it comes from, if that is installed here.
    package var prefersOrigin: Bool {
        switch self {
        case .documents, .editor, .media, .office: true
        case .browser, .shell: false
        }
    }

    /// The applications by which people know what `handler` continues here and what comes from `origin`, the best first: the
    /// latter, if it is installed here too, and `handler` continues it in that one.
    package static func applications(_ handler: String, _ origin: String) -> [String] {
        StandIn(id: handler)?.prefersOrigin == true ? [origin, handler] : [handler, origin]
    }

    /// What people call the application `id` in a sentence.
    package static func called(_ id: String) -> String { StandIn(id: id)?.words ?? id.shown }

    /// What people call the application in which it continues something, as long as it is not known which one that is.
    package var words: String {
        switch self {
        case .browser: tr("the web browser here")
        case .documents: tr("the document viewer or file manager here")
        case .editor: tr("the text editor here")
        case .media: tr("the media player here")
        case .office: tr("LibreOffice here")
        case .shell: tr("a terminal here")
        }
    }
}
