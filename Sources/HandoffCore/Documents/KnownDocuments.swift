// SPDX-License-Identifier: LGPL-2.1-or-later

/// The documents that have been handed off, by their ids: where each is on this device, and what the other devices have of
/// it as far as is known. So a document that comes again takes the place of the copy that came before, and one that comes
/// home finds its original.
package struct KnownDocuments: Hashable, Sendable {
    /// What has gone to and fro between this device and another one.
    package struct Exchange: Hashable, Sendable {
        /// What was sent there last.
        package var sent: ContentMark?
        /// What has come from there last.
        package var came: ContentMark?

        /// Of a document that went there, or came from there, or both.
        package init(sent: ContentMark? = nil, came: ContentMark? = nil) {
            (self.sent, self.came) = (sent, came)
        }
    }

    /// What has come and was placed beside the document, which was not to be replaced.
    package struct Beside: Hashable, Sendable {
        /// Its path, in which there is no link.
        package let path: String
        /// Its content as it was written.
        package let mark: ContentMark
        /// The device that it has come from.
        package let source: DeviceID

        /// Something that was placed.
        package init(path: String, mark: ContentMark, source: DeviceID) {
            (self.path, self.mark, self.source) = (path, mark, source)
        }
    }

    /// A document.
    package struct Entry: Hashable, Sendable {
        /// Its path, in which there is no link.
        package let path: String
        /// The device that this copy has come from; nil if the document is at home here.
        package let source: DeviceID?
        /// What was written there last of what has come; nil if nothing was. Only that is nobody's work here.
        package var written: ContentMark?
        /// What was placed beside it last; nil if nothing was.
        package var beside: Beside?
        /// What has gone to and fro.
        package var exchanges: [DeviceID: Exchange] = [:]
        /// When that was last so, in microseconds since the Unix epoch.
        package var used: Int64

        /// An entry of these values.
        package init(path: String, source: DeviceID?, used: Int64) {
            (self.path, self.source, self.used) = (path, source, used)
        }
    }

    /// How many are remembered; the one that was longest unused goes first.
    package static let maximumCount = 512
    /// How long one is remembered that is not used, in microseconds: 90 days.
    package static let maximumAge: Int64 = 90 * 24 * 3600 * 1_000_000
    /// How many bytes the path of a document may have that is remembered.
    package static let maximumPath = 1024
    /// How many devices are remembered for a document; with one more, the others are forgotten.
    private static let maximumDevices = 16

    /// All of them.
    package private(set) var entries: [DocumentID: Entry] = [:]
    private var ids: [String: DocumentID] = [:]

    /// None.
    package init() {}

    /// The id of the document at `path`, which is about to be sent at `time`: a new one from `generator` if it has none. Nil
    /// if the path is too long.
    package mutating func id(
        at path: String, _ time: Int64, using generator: inout some RandomNumberGenerator
    ) -> DocumentID? {
        guard path.utf8.count <= Self.maximumPath else { return nil }
        let id = ids[path] ?? DocumentID(using: &generator)
        set(id, entries[id] ?? Entry(path: path, source: nil, used: time), at: time)
        return id
    }

    /// What is known here of the document `id`, which comes from `device`; nil if `device` cannot mean any file of this
    /// device.
    package func known(_ id: DocumentID, from device: DeviceID) -> KnownDocument? {
        guard let entry = entries[id] else { return nil }
        let exchange = entry.exchanges[device]
        // Elsewhere it may have been continued on a third device, and come here from there.
        guard exchange != nil || entry.source == nil else { return nil }
        var bases = Set([exchange?.sent, exchange?.came].compactMap(\.self))
        if exchange == nil {
            let all = Set(entry.exchanges.values.flatMap { [$0.sent, $0.came].compactMap(\.self) })
            // Which of several that third device had is not known.
            if all.count == 1 { bases = all }
        }
        let isCopy = entry.source == device
        return KnownDocument(
            path: entry.path, beside: entry.beside.flatMap { $0.source == device ? $0 : nil }, isCopy: isCopy,
            bases: isCopy ? Set([exchange?.came].compactMap(\.self)) : bases, written: entry.written)
    }

    /// The document `id` has been sent to `device`.
    /// - Returns: whether that is anything new.
    package mutating func sent(_ id: DocumentID, _ mark: ContentMark, to device: DeviceID, at time: Int64)
        -> Bool
    {
        guard let entry = entries[id] else { return false }
        let isNew = entry.exchanges[device]?.sent != mark || time - entry.used > Self.maximumAge / 90
        note(id, entry, device, time) { $0.sent = mark }
        return isNew
    }

    /// The document `id` has come from `device`, and is at `path`: beside the document, or the document itself. A file that
    /// was there before, and not known as this document, does not become it because its content is the same; and an id of
    /// others' documents means nothing.
    /// - Parameters:
    ///   - isNew: whether the file was placed just now.
    ///   - isWritten: whether it was, or another one was replaced; otherwise the content was there already, whose work it is.
    package mutating func came(
        _ id: DocumentID, _ mark: ContentMark, from device: DeviceID, at path: String, isBeside: Bool,
        isNew: Bool, isWritten: Bool, _ time: Int64
    ) {
        guard path.utf8.count <= Self.maximumPath, entries[id] == nil || known(id, from: device) != nil else {
            return
        }
        var entry = entries[id]
        guard isNew || path == entry?.path || path == entry?.beside?.path else { return }
        if isBeside {
            if isWritten { entry?.beside = Beside(path: path, mark: mark, source: device) }
        } else if path != entry?.path {
            entry = Entry(path: path, source: device, used: time)
        }
        if !isBeside, isWritten { entry?.written = mark }
        guard let entry else { return }
        note(id, entry, device, time) { $0.came = mark }
    }

    /// What `device` has of documents does not count any more: it is not paired any longer.
    /// - Returns: whether there was anything.
    package mutating func forget(_ device: DeviceID) -> Bool {
        let former = entries
        for (id, entry) in former {
            entries[id]?.exchanges[device] = nil
            if let beside = entry.beside, beside.source == device {
                entries[id]?.beside = nil
                ids[beside.path] = nil
            }
            if entry.source == device { remove(id) }
        }
        return entries != former
    }

    /// Adds an entry that was written down before, unless there is something newer in its place, or it is too old at `time`.
    package mutating func restore(_ id: DocumentID, _ entry: Entry, at time: Int64) {
        guard entries[id] == nil, ids[entry.path].map({ entries[$0]?.path != entry.path }) ?? true,
            entry.used <= time,
            time - entry.used <= Self.maximumAge
        else { return }
        set(id, entry, at: entry.used)
    }

    private mutating func note(
        _ id: DocumentID, _ entry: Entry, _ device: DeviceID, _ time: Int64,
        _ change: (inout Exchange) -> Void
    ) {
        var entry = entry
        let known = entry.exchanges[device]
        var exchange = known ?? Exchange()
        change(&exchange)
        if known == nil, entry.exchanges.count >= Self.maximumDevices { entry.exchanges = [:] }
        entry.exchanges[device] = exchange
        set(id, entry, at: time)
    }

    private mutating func set(_ id: DocumentID, _ entry: Entry, at time: Int64) {
        remove(id)
        if let former = ids[entry.path] {
            if entries[former]?.path == entry.path { remove(former) } else { entries[former]?.beside = nil }
        }
        var entry = entry
        entry.used = time
        // What takes the place of another document's is its own.
        if let beside = entry.beside, ids[beside.path] != nil { entry.beside = nil }
        entries[id] = entry
        for path in entry.paths { ids[path] = id }
        guard entries.count > Self.maximumCount,
            let oldest = entries.min(by: { $0.value.used < $1.value.used })
        else { return }
        remove(oldest.key)
    }

    private mutating func remove(_ id: DocumentID) {
        for path in entries.removeValue(forKey: id)?.paths ?? [] { ids[path] = nil }
    }
}

extension KnownDocuments.Entry {
    fileprivate var paths: [String] { [path] + (beside.map { [$0.path] } ?? []) }
}
