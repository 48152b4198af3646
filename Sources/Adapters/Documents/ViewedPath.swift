// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces

/// The absolute path of a file that a viewer says it shows, or that is to be opened: it names each folder on its way just
/// once, so it leads nowhere else than it says, and no program can take it for an option.
struct ViewedPath: Hashable, Sendable {
    /// The path.
    let text: String

    /// The file at `text`; nil if that is no such path, or is longer than any file's.
    init?(_ text: String) {
        guard text.utf8.count <= SharedFolder.maximumPath, text.utf8.first == UInt8(ascii: "/"),
            !text.utf8.contains(0)
        else { return nil }
        let parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return nil }
        self.text = text
    }

    /// The file that `url` names; nil unless it is a `file` URL with nothing but such a path, which is text.
    init?(url: String) {
        // Each character of a path takes at most three in a URL.
        guard url.utf8.count <= 3 * SharedFolder.maximumPath + 64, let file = FileURL(url),
            file.suffix.isEmpty
        else { return nil }
        var path = file.path[...]
        if path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
        guard let text = String(validating: path, as: UTF8.self) else { return nil }
        self.init(text)
    }

    /// Its URL; nil if GLib can make none.
    var url: String? { FileURL.text(Array(text.utf8)) }

    /// The last part.
    var name: String { text.split(separator: "/").last.map(String.init) ?? "" }

    /// Where the same file is for everybody, if a Flatpak application called `application` sees it here: only what the
    /// document portal of the user, whose runtime folder is `runtime`, gives that application itself.
    /// - Returns: nil if it is anything else, such as a file that the application could not read.
    func seen(byFlatpak application: String, runtime: String) -> ViewedPath? {
        let documents = runtime + "/doc/"
        guard text.hasPrefix(documents) else { return nil }
        let parts = text.dropFirst(documents.count).split(separator: "/")
        guard parts.count == 2, parts[0].utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 }) else {
            return nil
        }
        return ViewedPath("\(documents)by-app/\(application)/\(parts[0])/\(parts[1])")
    }
}
