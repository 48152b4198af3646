// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import HandoffSession
package import MainLoop
internal import Platform

/// What the folders for data say of adapters: which there are, and which of their applications are installed.
package struct AdapterReading: Sendable {
    /// The adapters, by name.
    package private(set) var adapters: [InstalledAdapter] = []
    /// Why files are ignored.
    package private(set) var complaints: [String] = []
    /// What was read, watched since before that; nil if there is no descriptor left for it.
    package let watched: WatchedFolders?

    /// How many descriptions there may be.
    private static let maximumCount = 64
    /// How many files of a folder are looked at for descriptions.
    private static let maximumFiles = 1024
    private static let suffix = ".adapter"

    /// The folders for descriptions, the most important first.
    private static var folders: [String] { UserDirectories.allData.map { "\($0)/handoff/adapters" } }

    /// Reads all of it. This blocks as long as a file system does.
    package init() {
        watched = WatchedFolders(Self.folders + UserDirectories.applications)
        var paths: [AdapterName: String] = [:]
        for folder in Self.folders {
            // Of a name the first file counts, even if it cannot be used: whoever put it there has meant to replace the other.
            for name in Self.names(in: folder) where paths[name] == nil && paths.count < Self.maximumCount {
                paths[name] = "\(folder)/\(name)\(Self.suffix)"
            }
        }
        for (name, path) in paths.sorted(by: { $0.key < $1.key }) {
            do {
                guard let file = try KeyFile.load(path, maximumSize: AdapterDescription.maximumSize) else {
                    continue
                }
                let description = try AdapterDescription(name, file)
                adapters.append(
                    InstalledAdapter(description, description.applications.compactMap(Self.installed)))
            } catch {
                complaints.append("\(path) is ignored: \(error)")
            }
        }
        // What was read is more than what is kept of it.
        ProcessMemory.returnFree()
    }

    /// The adapters that a folder has descriptions of, in a fixed order.
    private static func names(in folder: String) -> [AdapterName] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var (names, count): ([AdapterName], Int) = ([], 0)
        while count < maximumFiles, let file = FolderNames.next(in: directory) {
            count += 1
            guard file.hasSuffix(suffix), let name = try? AdapterName(String(file.dropLast(suffix.count)))
            else {
                continue
            }
            names.append(name)
        }
        return names.sorted()
    }

    /// The application, if it is installed.
    private static func installed(_ id: ApplicationID) -> InstalledAdapter.Application? {
        guard let entry = try? DesktopEntry.find(id), (try? entry.boolean("Hidden")) != true else {
            return nil
        }
        let windowClass = (try? entry.string("StartupWMClass")) ?? nil
        return InstalledAdapter.Application(
            id: id, windowClass: windowClass.flatMap { 1...255 ~= $0.utf8.count ? $0 : nil })
    }
}
