// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// What is known at the origin of the files that an activity names: which of them peers may have too.
struct NamedFiles: Sendable {
    /// The shared folders of this machine.
    let folders: SharedFolders
    /// The document; nil if there is none, or if nothing was found out about it in time.
    let document: DocumentPlace?

    /// How many bytes the names and the URLs of the folders may take in all: a reply that also holds the largest
    /// activity still fits.
    private static let maximumSize = 32 * 1024

    /// Adds to `payload` the shared folders in which there is what it names, and what is known of a document there. A
    /// document that is named by way of links gets the URL that it has in its folder, which peers can do something with.
    /// Nothing is added if that URL takes more than `room` bytes more.
    func describe(_ payload: inout [String: Value], room: Int) {
        var used: [String: SharedFolder] = [:]
        if let document, let real = FileURL.text(document.path),
            real.utf8.count - document.url.utf8.count > room
        {
            return
        }
        if case .string(let url)? = payload["DocumentURL"] {
            describe(documentAt: url, &payload, &used)
        }
        _ = payload["UserInfo"]?.replacingStructures { structure in
            if let url = SharedURLs.url(of: structure), let file = FileURL(url) { note(file.path, &used) }
            return nil
        }
        payload[SharedURLs.Key.folders] = Self.dictionary(used)
    }

    private func describe(
        documentAt url: String, _ payload: inout [String: Value], _ used: inout [String: SharedFolder]
    ) {
        guard let document, document.url == url else {
            if let file = FileURL(url), file.suffix.isEmpty { note(file.path, &used) }
            return
        }
        let real = FileURL.text(document.path) ?? url
        if real != url { payload["DocumentURL"] = .string(real) }
        guard note(document.path, &used) else { return }
        payload[SharedURLs.Key.size] = document.size.map { .uint64($0) }
        payload[SharedURLs.Key.modified] = document.modified.map { .int64($0) }
    }

    /// Remembers the folders that `path` lies in; returns whether there are any.
    @discardableResult
    private func note(_ path: [UInt8], _ used: inout [String: SharedFolder]) -> Bool {
        let items = folders.items(at: path)
        for item in items { used[item.folder] = folders[item.folder] }
        return !items.isEmpty
    }

    /// `used` as it crosses to a peer: the URLs of the folders by their names; nil if there are none.
    static func dictionary(_ used: [String: SharedFolder]) -> Value? {
        var (entries, room): ([(key: Value, value: Value)], Int) = ([], maximumSize)
        for (name, folder) in used.sorted(by: { $0.key < $1.key }) {
            guard entries.count < SharedFolders.maximumCount, let url = FileURL.text(folder.path) else {
                continue
            }
            room -= name.utf8.count + url.utf8.count + 24
            if room >= 0 { entries.append((.string(name), .string(url))) }
        }
        return entries.isEmpty ? nil : try? .dictionary(key: "s", value: "s", entries)
    }
}
