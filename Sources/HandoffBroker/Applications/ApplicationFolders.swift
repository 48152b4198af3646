// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import HandoffSession
internal import Platform

/// The folders that desktop entries are looked for in (Desktop Entry Specification, "Desktop File ID").
struct ApplicationFolders {
    /// How many entries, folders and desktop files are looked at in all: many times as many as a full desktop has.
    private static let (maximumEntries, maximumFolders, maximumFiles) = (16_384, 256, 4096)

    /// What the folders hold.
    struct Contents: Sendable {
        var applications: [InstalledApplication] = []
        /// What the authors of entries that count should know, with the paths of these.
        var complaints: [(path: String, text: String)] = []
        /// All folders that were looked into, including missing ones.
        var folders: [String] = []
        /// Whether some could not be looked at for the time being, because no descriptor was left.
        var isIncomplete = false
        /// The desktop file ids that were seen: if two files have the same id, the first one counts, even if
        /// it says nothing about Handoff.
        fileprivate var ids: Set<String> = []
        fileprivate var files = 0
        fileprivate var entries = 0

        /// All folders have been looked into: what opens documents with other applications is told whether one is installed.
        mutating func settle() {
            for index in applications.indices where !applications[index].opensWith.isEmpty {
                applications[index].canOpen = !ids.isDisjoint(with: applications[index].opensWith)
            }
        }
    }

    /// Looks through `folder`, after those that are more important. This blocks as long as the file system does.
    static func look(in folder: String, _ contents: inout Contents) {
        look(in: folder, prefix: "", depth: 0, &contents)
    }

    private static func look(in folder: String, prefix: String, depth: Int, _ contents: inout Contents) {
        guard contents.folders.count < maximumFolders else { return }
        contents.folders.append(folder)
        let entries = entries(of: folder, atMost: maximumEntries - contents.entries, &contents)
        contents.entries += entries.count
        for (name, isFolder) in entries {
            if isFolder {
                guard depth < DesktopEntry.maximumDepth, !name.hasPrefix(".") else { continue }
                look(in: "\(folder)/\(name)", prefix: "\(prefix)\(name)-", depth: depth + 1, &contents)
            } else if name.hasSuffix(".desktop") {
                read("\(folder)/\(name)", id: prefix + name.dropLast(".desktop".count), &contents)
            }
        }
    }

    private static func read(_ path: String, id: String, _ contents: inout Contents) {
        contents.files += 1
        guard contents.files <= maximumFiles, contents.ids.insert(id).inserted else { return }
        do {
            if let declaring = try DeclaringEntry.read(path, id: id) {
                var application = declaring.application
                application.start = LaunchEntry.start(declaring.entry, application.applicationID)
                contents.applications.append(application)
                if let complaint = declaring.complaint { contents.complaints.append((path, complaint)) }
            }
        } catch {
            if (error as? KeyFileError)?.isShortage == true { contents.isIncomplete = true }
            let reason = (error as? HandoffFailure)?.message ?? "\(error)"
            brokerLog.debug("\(PeerText.message(path)) is ignored: \(PeerText.message(reason))")
        }
    }

    /// The names in `folder` and whether each is a folder, in alphabetical order. Links to folders are not
    /// followed.
    private static func entries(
        of folder: String, atMost maximum: Int, _ contents: inout Contents
    ) -> [(String, Bool)] {
        guard let stream = opendir(folder) else {
            if errno == EMFILE || errno == ENFILE { contents.isIncomplete = true }
            return []
        }
        defer { closedir(stream) }
        var entries: [(String, Bool)] = []
        while entries.count < maximum, let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            let type = Int(entry.pointee.d_type)
            entries.append(
                (name, type == DT_DIR || type == DT_UNKNOWN && DesktopEntry.isFolder("\(folder)/\(name)")))
        }
        return entries.sorted { $0.0 < $1.0 }
    }
}
