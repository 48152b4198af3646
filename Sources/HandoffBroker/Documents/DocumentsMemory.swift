// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Knows documents again that were handed off, over the end of the broker too: in a key file with a group for each document.
/// Losing it costs nothing but a second copy of a document that comes again.
@MainLoop
final class DocumentsMemory {
    private var documents = KnownDocuments()
    private let file: RememberedFile?
    private var generator = SystemRandomNumberGenerator()
    /// Whether the file has been read, before which nothing is written to it, and something has changed before.
    private var (hasRead, isChanged) = (false, false)

    /// How many bytes of the file are read: more than all documents with the longest paths and the most devices.
    private static let maximumSize = 4 << 20

    /// The file at `path`; nil if there is to be none.
    init(_ path: String? = try? "\(HandoffDirectories.state())/\(HandoffDirectories.documentsName)") {
        file = path.map {
            RememberedFile($0, "Which documents have been handed off", maximumSize: Self.maximumSize)
        }
        file?.read(Self.decode) { [weak self] entries in
            guard let self else { return }
            for (id, entry) in entries { documents.restore(id, entry, at: MainLoop.wallClock) }
            hasRead = true
            if isChanged { write() }
        }
    }

    /// The id of the document at `path`, in which there is no link, and which is about to be sent; nil if it gets none.
    func id(at path: String) -> DocumentID? { documents.id(at: path, MainLoop.wallClock, using: &generator) }

    /// What is known here of the document `id`, which comes from `device`.
    func known(_ id: DocumentID, from device: DeviceID) -> KnownDocument? {
        documents.known(id, from: device)
    }

    /// The document `id` has been sent to `device`.
    func sent(_ id: DocumentID, _ mark: ContentMark, to device: DeviceID) {
        if documents.sent(id, mark, to: device, at: MainLoop.wallClock) { write() }
    }

    /// The document `id` has come from `device`, and is placed.
    func came(_ id: DocumentID, from device: DeviceID, _ placed: PlacedDocument) {
        guard let path = placed.realPath, let mark = placed.mark else { return }
        documents.came(
            id, mark, from: device, at: path, isBeside: placed.isBeside, isNew: placed.isNew,
            isWritten: placed.isWritten, MainLoop.wallClock)
        write()
    }

    /// `device` is not paired any longer.
    func forget(_ device: DeviceID) { if documents.forget(device) { write() } }

    // MARK: The file

    private func write() {
        isChanged = true
        let entries = documents.entries
        if hasRead { file?.write { Self.encode(entries) } }
    }

    private enum Key {
        static let (path, source, used) = ("Path", "Source", "Used")
        static let (written, beside, exchanges) = ("Written", "Beside", "Exchanges")
    }

    /// The file that says `entries`.
    nonisolated static func encode(_ entries: [DocumentID: KnownDocuments.Entry]) -> [UInt8] {
        let file = KeyFile()
        for (id, entry) in entries.sorted(by: { $0.value.used < $1.value.used }) {
            let group = id.description
            file.set(Key.path, in: group, to: entry.path)
            if let source = entry.source { file.set(Key.source, in: group, to: source.description) }
            file.set(Key.used, in: group, to: entry.used)
            if let written = entry.written { file.set(Key.written, in: group, to: written.description) }
            if let beside = entry.beside {
                file.set(Key.beside, in: group, to: "\(beside.mark) \(beside.source) \(beside.path)")
            }
            file.set(
                Key.exchanges, in: group,
                to: entry.exchanges.map { "\($0) \(text($1.sent)) \(text($1.came))" }.sorted())
        }
        return Array(file.text.utf8)
    }

    /// What the file says; nothing of what cannot be understood.
    nonisolated static func decode(_ bytes: [UInt8]) -> [DocumentID: KnownDocuments.Entry] {
        guard let file = try? KeyFile(bytes: bytes, name: "documents") else { return [:] }
        var entries: [DocumentID: KnownDocuments.Entry] = [:]
        for group in file.groups.suffix(KnownDocuments.maximumCount) {
            guard let id = DocumentID(group), let entry = try? entry(file, group) else { continue }
            entries[id] = entry
        }
        return entries
    }

    nonisolated private static func entry(
        _ file: KeyFile, _ group: String
    ) throws(KeyFileError) -> KnownDocuments.Entry? {
        guard let path = try file.string(Key.path, in: group), path.hasPrefix("/"),
            let used = try file.integer(Key.used, in: group)
        else { return nil }
        let source = try file.string(Key.source, in: group)
        let device = source.flatMap { DeviceID($0) }
        // Whose copy it is decides whether it may be replaced.
        guard (source == nil) == (device == nil) else { return nil }
        var entry = KnownDocuments.Entry(path: path, source: device, used: used)
        let beside = try file.string(Key.beside, in: group)?.split(separator: " ", maxSplits: 2).map(
            String.init)
        if let beside, beside.count == 3, let mark = ContentMark(beside[0]), let source = DeviceID(beside[1])
        {
            entry.beside = .init(path: beside[2], mark: mark, source: source)
        }
        entry.written = try file.string(Key.written, in: group).flatMap { ContentMark($0) }
        for text in try file.strings(Key.exchanges, in: group) ?? [] {
            let parts = text.split(separator: " ").map(String.init)
            guard parts.count == 3, let device = DeviceID(parts[0]) else { continue }
            entry.exchanges[device] = .init(sent: ContentMark(parts[1]), came: ContentMark(parts[2]))
        }
        return entry
    }

    nonisolated private static func text(_ mark: ContentMark?) -> String { mark?.description ?? "-" }
}
