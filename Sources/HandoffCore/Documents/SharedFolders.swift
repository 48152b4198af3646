// SPDX-License-Identifier: LGPL-2.1-or-later

/// The shared folders of one device. What is in them can be found on every device that has a folder of the same name,
/// wherever the folder is there.
///
/// All of this is about names: whether there is anything at a path, and whether that is a link, is for others to find
/// out.
package struct SharedFolders: Hashable, Sendable {
    /// Something in a shared folder, or the folder itself, wherever that is.
    package struct Item: Hashable, Sendable {
        /// The name of the folder.
        package let folder: String
        /// The way from the folder to the item, empty for the folder itself; a slash at the end stays.
        package let way: [UInt8]

        /// The item at the end of this way. Nothing is checked: ``SharedFolders/path(of:)`` does that.
        package init(folder: String, way: [UInt8]) {
            self.folder = folder
            self.way = way
        }
    }

    /// How many folders the user may name, how many are taken from one sync client, and how many a peer may name at a
    /// time.
    package static let maximumCount = 64

    /// The folders, each name once: first those that the user has named.
    package let folders: [SharedFolder]
    private let indexes: [String: Int]
    /// Which folders are in a place, the first of them first; and how long the paths of all places are, the longest
    /// first. So it hardly matters how many folders there are.
    private let places: [ArraySlice<UInt8>: [Int]]
    private let lengths: [Int]

    /// These folders. If several have one name, what the user has chosen counts; if none of them was chosen, nobody can
    /// know which is meant, and none counts.
    package init(chosen: [SharedFolder] = [], found: [SharedFolder] = []) {
        let chosenNames = Set(chosen.map(\.name))
        let counts = Dictionary(grouping: found, by: \.name).mapValues { Set($0.map(\.path)).count }
        let certain = found.filter { !chosenNames.contains($0.name) && counts[$0.name] == 1 }
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
        places = Dictionary(grouping: folders.indices) { folders[$0].path[...] }
        lengths = Set(folders.map(\.path.count)).sorted(by: >)
    }

    /// Whether there is none.
    package var isEmpty: Bool { folders.isEmpty }

    /// The folder of this name; nil if there is none.
    package subscript(name: String) -> SharedFolder? { indexes[name].map { folders[$0] } }

    /// What is at `path` here, once for each name of each folder that it lies in: first the innermost folders, and of
    /// those in one place first the ones that the user has named. Empty if it is in none, or if the path is not
    /// absolute or leads back to where it came from.
    package func items(at path: [UInt8]) -> [Item] {
        guard !folders.isEmpty, path.count <= SharedFolder.maximumPath + 1, SharedFolder.isAbsolute(path[...])
        else { return [] }
        var items: [Item] = []
        for length in lengths where length <= path.count {
            guard length == path.count || path[length] == SharedFolder.slash else { continue }
            let way = Array(path.dropFirst(length + 1))
            for index in places[path[..<length]] ?? [] {
                items.append(Item(folder: folders[index].name, way: way))
            }
        }
        return items
    }

    /// What is at `path` here, in the innermost folder; nil if it is in none.
    package func item(at path: [UInt8]) -> Item? { items(at: path).first }

    /// Where `item` is here, or would be if it existed; nil if there is no such folder, or if the way does not stay
    /// beneath it, or if the path is longer than any file's.
    package func path(of item: Item) -> [UInt8]? {
        guard let folder = self[item.folder] else { return nil }
        if item.way.isEmpty { return folder.path }
        guard SharedFolder.isRelative(item.way[...]),
            folder.path.count + 1 + item.way.count <= SharedFolder.maximumPath
        else { return nil }
        return folder.path + [SharedFolder.slash] + item.way
    }

    /// Where here is what lies at `path` on the device whose shared folders are `others`; nil if it is in none that both
    /// have.
    package func path(ofItemAt path: [UInt8], among others: SharedFolders) -> [UInt8]? {
        for item in others.items(at: path) {
            if let path = self.path(of: item) { return path }
        }
        return nil
    }
}
