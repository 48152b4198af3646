// SPDX-License-Identifier: LGPL-2.1-or-later

/// The shared folders of one device. What is in them can be found on every device that has a folder of the same name,
/// wherever the folder is there.
///
/// All of this is about names: whether there is anything at a path, and whether that is a link, is for others to find
/// out.
public struct SharedFolders: Hashable, Sendable {
    /// Something in a shared folder, or the folder itself, wherever that is.
    public struct Item: Hashable, Sendable {
        /// The name of the folder.
        public let folder: String
        /// The way from the folder to the item, empty for the folder itself; a slash at the end stays.
        public let way: [UInt8]

        /// The item at the end of this way. Nothing is checked: ``SharedFolders/path(of:)`` does that.
        public init(folder: String, way: [UInt8]) {
            self.folder = folder
            self.way = way
        }
    }

    /// How many folders the user may name, how many are taken from one sync client, and how many a peer may name at a
    /// time.
    public static let maximumCount = 64

    /// The folders, each name once: first those that the user has named.
    public let folders: [SharedFolder]
    private let indexes: [String: Int]

    /// These folders. If several have one name, what the user has chosen counts; if none of them was chosen, nobody can
    /// know which is meant, and none counts.
    public init(chosen: [SharedFolder] = [], found: [SharedFolder] = []) {
        let chosenNames = Set(chosen.map(\.name))
        let places = Dictionary(grouping: found, by: \.name).mapValues { Set($0.map(\.path)).count }
        let certain = found.filter { !chosenNames.contains($0.name) && places[$0.name] == 1 }
        var (folders, indexes): ([SharedFolder], [String: Int]) = ([], [:])
        let sorted = [chosen, certain].flatMap {
            $0.sorted { ($0.name, $0.path.count) < ($1.name, $1.path.count) }
        }
        for folder in sorted where indexes[folder.name] == nil {
            indexes[folder.name] = folders.count
            folders.append(folder)
        }
        self.folders = folders
        self.indexes = indexes
    }

    /// Whether there is none.
    public var isEmpty: Bool { folders.isEmpty }

    /// The folder of this name; nil if there is none.
    public subscript(name: String) -> SharedFolder? { indexes[name].map { folders[$0] } }

    /// What is at `path` here, once for each name of each folder that it lies in: first the innermost folders, and of
    /// those in one place first the ones that the user has named. Empty if it is in none, or if the path is not
    /// absolute or leads back to where it came from.
    public func items(at path: [UInt8]) -> [Item] {
        guard !folders.isEmpty, SharedFolder.isAbsolute(path[...]) else { return [] }
        var found: [(length: Int, order: Int, item: Item)] = []
        for (order, folder) in folders.enumerated() {
            guard let way = Self.way(from: folder.path, to: path) else { continue }
            found.append((folder.path.count, order, Item(folder: folder.name, way: way)))
        }
        return found.sorted { ($1.length, $0.order) < ($0.length, $1.order) }.map(\.item)
    }

    /// What is at `path` here, in the innermost folder; nil if it is in none.
    public func item(at path: [UInt8]) -> Item? { items(at: path).first }

    /// Where `item` is here, or would be if it existed; nil if there is no such folder, or if the way does not stay
    /// beneath it, or if the path is longer than any file's.
    public func path(of item: Item) -> [UInt8]? {
        guard let folder = self[item.folder] else { return nil }
        if item.way.isEmpty { return folder.path }
        guard SharedFolder.isRelative(item.way[...]),
            folder.path.count + 1 + item.way.count <= SharedFolder.maximumPath
        else { return nil }
        return folder.path + [SharedFolder.slash] + item.way
    }

    /// Where here is what lies at `path` on the device whose shared folders are `others`; nil if it is in none that both
    /// have.
    public func path(ofItemAt path: [UInt8], among others: SharedFolders) -> [UInt8]? {
        for item in others.items(at: path) {
            if let path = self.path(of: item) { return path }
        }
        return nil
    }

    private static func way(from folder: [UInt8], to path: [UInt8]) -> [UInt8]? {
        guard path.starts(with: folder) else { return nil }
        if path.count == folder.count { return [] }
        guard path[folder.count] == SharedFolder.slash else { return nil }
        return Array(path[(folder.count + 1)...])
    }
}
