// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import MainLoop

/// How a viewer is talked to, each of whose processes has a bus name of its own and shows one document.
///
/// Each of its questions is answered by the process that owns `owner`, or throws.
@MainLoop
protocol ViewerLanguage: Sendable {
    /// The name of its program.
    nonisolated var program: String { get }
    /// What the names of its processes are within, and how they begin there.
    nonisolated var names: (namespace: BusName, prefix: String) { get }

    /// The path of the document that is shown.
    func document(of owner: BusName, on bus: Bus) async throws -> String
    /// The page that is shown; nil for one that no document has.
    func page(of owner: BusName, on bus: Bus) async throws -> PageNumber?
    /// Turns to `page`, and brings the window to the front if that is possible. Whether it has done so.
    func turn(_ owner: BusName, to page: PageNumber, on bus: Bus) async throws -> Bool
    /// What its program is given to open the document at `path`.
    nonisolated func arguments(_ path: ViewedPath, _ page: PageNumber?) -> [String]
}

/// A viewer each of whose processes has a bus name of its own.
@MainLoop
final class PageViewer: DocumentViewer {
    nonisolated let id: ApplicationID
    var onChange: (@MainLoop (ViewerWindow) -> Void)?
    var onGone: (@MainLoop (ViewerWindow) -> Void)?
    var onPresenceChange: (@MainLoop () -> Void)?

    private let bus: Bus
    private nonisolated let language: any ViewerLanguage
    private var names: NamedOwners?

    /// The application `id` of the session that `bus` is of, which understands `language`.
    init(_ bus: Bus, _ id: ApplicationID, _ language: any ViewerLanguage) {
        (self.bus, self.id, self.language) = (bus, id, language)
    }

    nonisolated var program: String { language.program }

    var isPresent: Bool { names?.owners.isEmpty == false }

    func begin() {
        guard names == nil else { return }
        let names = NamedOwners(
            bus, of: id, within: language.names.namespace, beginning: language.names.prefix
        ) { [weak self] former, present in
            guard let self else { return }
            if let former { onGone?(ViewerWindow(id, former.caller, name: former.name)) }
            if let present { onChange?(ViewerWindow(id, present.caller, name: present.name)) }
            onPresenceChange?()
        }
        self.names = names
        names.begin()
    }

    func end() {
        names?.end()
        names = nil
    }

    func shown(in window: ViewerWindow) async -> ShownPlace? {
        let path = try? await language.document(of: window.owner, on: bus)
        return path.flatMap { ViewedPath($0) }.map { .document($0) }
    }

    func page(in window: ViewerWindow, of path: ViewedPath) async -> PageNumber? {
        try? await language.page(of: window.owner, on: bus)
    }

    func turn(_ window: ViewerWindow, to page: PageNumber) async -> Bool {
        (try? await language.turn(window.owner, to: page, on: bus)) ?? false
    }

    nonisolated func arguments(_ path: ViewedPath, _ page: PageNumber?) -> [String] {
        language.arguments(path, page)
    }
}
