// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop

/// The files that were copied in a clipboard: a list of their URLs (`text/uri-list`, RFC 2483). Only those in shared folders go to
/// peers, and only those that are in a shared folder here too come in, as what they are here.
@MainLoop
struct ClipboardFiles {
    private let folders: KnownFolders
    private let looks: FileLooks

    /// The files in `folders`.
    init(_ folders: KnownFolders, _ looks: FileLooks) { (self.folders, self.looks) = (folders, looks) }

    /// What of `content` goes to a peer, and the folders that it lies in, as `Fetch` names them; nil for nothing.
    func outgoing(
        _ content: ClipboardContent
    ) async throws(HandoffFailure) -> (content: ClipboardContent, folders: Value?)? {
        guard let urls = try content.fileURLs() else { return (content, nil) }
        let shared = await folders.current()
        var used: [String: SharedFolder] = [:]
        let kept = urls.filter { url in
            let items = FileURL(url).map { shared.items(at: $0.path) } ?? []
            for item in items { used[item.folder] = shared[item.folder] }
            return !items.isEmpty
        }
        return try content.replacing(kept).map { ($0, NamedFiles.dictionary(used)) }
    }

    /// What of `content`, which a peer has given with `answer`, is taken here; nil for nothing. No link is followed out of a
    /// shared folder.
    /// - Throws: what ``SharedURLs/init(_:here:)`` does.
    func incoming(
        _ content: ClipboardContent, _ answer: [String: Value]
    ) async throws(HandoffFailure) -> ClipboardContent? {
        guard let urls = try content.fileURLs() else { return content }
        let shared = try SharedURLs(answer, here: await folders.current())
        let here = await looks.look(.sharedCopy, of: nil) { urls.compactMap { shared.url($0) } } ?? []
        return try content.replacing(here)
    }
}

extension ClipboardContent {
    /// How many files there may be.
    private static let maximumFiles = 1000

    /// The URLs of the files that were copied; nil if none were.
    fileprivate func fileURLs() throws(HandoffFailure) -> [String]? {
        guard let list = try file(of: .files) else { return nil }
        let text = String(decoding: try list.bytes(), as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: true) { $0.isNewline }
        return lines.lazy.filter { FileURL.isFile(String($0)) }.prefix(Self.maximumFiles).map { String($0) }
    }

    /// It with these files instead of those that were copied; nil if nothing is left.
    fileprivate func replacing(_ urls: [String]) throws(HandoffFailure) -> ClipboardContent? {
        var all: [(kind: ClipboardKind, file: ClipboardFile)] = []
        for kind in kinds {
            if kind != .files, let file = try file(of: kind) { all.append((kind, file)) }
            guard kind == .files, !urls.isEmpty else { continue }
            all.append((kind, try ClipboardFile(Array(urls.map { $0 + "\r\n" }.joined().utf8))))
        }
        return all.isEmpty ? nil : try ClipboardContent(all)
    }
}
