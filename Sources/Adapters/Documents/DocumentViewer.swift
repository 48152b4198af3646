// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import HandoffCore
internal import MainLoop

/// What a window shows, as its application says.
enum ShownPlace: Equatable, Sendable {
    /// A document.
    case document(ViewedPath)
    /// A folder.
    case folder(ViewedPath)

    /// Where that is.
    var path: ViewedPath {
        switch self {
        case .document(let path), .folder(let path): path
        }
    }
}

/// An application whose windows show documents or folders.
@MainLoop
protocol WindowSource: AnyObject {
    /// Which it is.
    nonisolated var id: ApplicationID { get }
    /// Called when a window is there, or may show something else.
    var onChange: (@MainLoop (ViewerWindow) -> Void)? { get set }
    /// Called when a window is gone.
    var onGone: (@MainLoop (ViewerWindow) -> Void)? { get set }
    /// Whether the application is on the bus, also without any window: whoever starts adapters says nothing of a window that
    /// comes when the application has long been there.
    var isPresent: Bool { get }
    /// Called when ``isPresent`` may be different.
    var onPresenceChange: (@MainLoop () -> Void)? { get set }

    /// Begins to follow its windows.
    func begin()
    /// Ends that: nothing is known of them any more.
    func end()
    /// What `window` shows; nil if that is nothing, or its application does not say so in time.
    func shown(in window: ViewerWindow) async -> ShownPlace?
}

/// An application that shows documents, page by page.
@MainLoop
protocol DocumentViewer: WindowSource {
    /// The name of its program.
    nonisolated var program: String { get }

    /// The page that `window` shows of the document at `path`; nil if its application does not say so in time.
    func page(in window: ViewerWindow, of path: ViewedPath) async -> PageNumber?
    /// Turns `window` to this page of what it shows, and brings it to the front if it can. Whether it has done so.
    func turn(_ window: ViewerWindow, to page: PageNumber) async -> Bool
    /// What its program is given to open the document at `path`.
    nonisolated func arguments(_ path: ViewedPath, _ page: PageNumber?) -> [String]
}

/// How long an application may take to say what it shows.
let viewerPatience = Duration.milliseconds(700)
