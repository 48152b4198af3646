// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces

/// The address of what an application is to open.
enum OpenedURL {
    /// What `url` leads to: a web page, or a file of this machine. Neither an address nor a path can be taken for an
    /// option of a program, since one begins with its scheme and the other with a slash.
    /// - Throws: `invalidURL` if it is neither.
    static func check(_ url: String) throws(HandoffFailure) -> ExecLine.Opened {
        guard !url.unicodeScalars.contains(where: { PeerText.isControl($0) || $0 == " " }) else {
            throw refusal(url)
        }
        if url.hasPrefix("https://") || url.hasPrefix("http://") { return .page(url) }
        guard url.hasPrefix("file:///"), let file = FileURL(url), file.suffix.isEmpty else {
            throw refusal(url)
        }
        return .file(url: url, path: String(validating: file.path, as: UTF8.self))
    }

    private static func refusal(_ url: String) -> HandoffFailure {
        HandoffFailure(
            .invalidURL,
            "\(PeerText.message(url)) is neither a web page nor a file of this machine, and is not opened.")
    }
}
