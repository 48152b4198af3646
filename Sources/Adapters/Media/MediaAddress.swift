// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces

/// What a player plays, by its address: nothing else may be offered to another device, or given to a player.
///
/// A player reads much more than files and streams: lists that name further files, devices, and languages of its own
/// (`edl://`, `screen://`, `av://`). None of that is one of these.
package enum MediaAddress: Hashable, Sendable {
    /// A file of this machine, by its URL and by its path, which is absolute.
    case file(url: String, path: String)
    /// A stream, or anything else on the web, by its URL: `http` or `https`, and without user info.
    case stream(String)

    /// The longest address, in bytes.
    private static let maximumLength = 4096

    /// The address that `text` is; nil if it is none that may be offered or played.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength,
            !text.unicodeScalars.contains(where: { PeerText.isControl($0) || $0 == " " })
        else { return nil }
        if FileURL.isFile(text) { self.init(file: text) } else { self.init(stream: text) }
    }

    private init?(file text: String) {
        guard let file = FileURL(text), file.suffix.isEmpty, file.path.first == UInt8(ascii: "/"),
            file.path.last != UInt8(ascii: "/"), let path = String(validating: file.path, as: UTF8.self),
            !path.unicodeScalars.contains(where: PeerText.isControl), let url = FileURL.text(file.path)
        else { return nil }
        // Players write one address in several ways.
        self = .file(url: url, path: path)
    }

    private init?(stream text: String) {
        let text = ActivityURL.plain(text)
        // A password would be sent to other devices.
        guard WebAddress(text)?.hasUserInfo == false else { return nil }
        self = .stream(text)
    }

    /// As a player is told it.
    package var url: String {
        switch self {
        case .file(let url, _): url
        case .stream(let url): url
        }
    }

    /// As a program is given it: a path, which begins with a slash, or a URL, which begins with its scheme. Neither can be
    /// taken for an option.
    package var argument: String {
        switch self {
        case .file(_, let path): path
        case .stream(let url): url
        }
    }

    /// What it is called if nobody knows better: the name of the file, or the host.
    package var name: String {
        switch self {
        case .file(_, let path): path.split(separator: "/").last.map(String.init) ?? path
        case .stream(let url): WebAddress(url)?.host ?? url
        }
    }
}
