// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// How the applications that are installed here look, which is looked for when it is asked for the first time.
@MainLoop
final class InstalledFaces: ApplicationFaces {
    /// Called when an application looks in another way than what was last said of it.
    var onChange: (@MainLoop () -> Void)?

    private let looks: ApplicationLooks
    /// What was found last. It is said of an application while it is looked for anew.
    private var found: [String: ApplicationLook] = [:]

    /// The applications that are being looked for. What is shown does not wait for that, and is told however long it takes.
    private var asked: Set<String> = []
    private var isAsking = false

    /// Of more applications than this, what was found is looked for anew.
    private static let maximumFound = 128

    init(_ looks: ApplicationLooks) { self.looks = looks }

    func face(of applicationID: String) -> (name: String, icon: String)? {
        if asked.insert(applicationID).inserted {
            isAsking = true
            looks.find([applicationID], within: nil) { [weak self] in self?.found($0, applicationID) }
            isAsking = false
        }
        return found[applicationID].map { look in
            switch look.icon {
            case .named(let name)?: (look.name, name)
            case .file(let path)?: (look.name, path)
            case nil: (look.name, "")
            }
        }
    }

    private func found(_ look: ApplicationLook?, _ applicationID: String) {
        asked.remove(applicationID)
        guard let look, found[applicationID] != look else { return }
        if found.count >= Self.maximumFound { found = [:] }
        found[applicationID] = look
        // Who asks sees it by itself.
        if !isAsking { onChange?() }
    }
}
