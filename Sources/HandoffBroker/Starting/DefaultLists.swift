// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import Platform

/// The lists of default applications (Association between MIME types and applications).
///
/// GIO would look there too, but by opening whatever has the name of a desktop entry, by keeping an index of all of them,
/// and with a watch of its own on each folder (``InstalledApplications`` says what comes of that).
struct DefaultLists {
    /// A list, and the folder of applications that it is in, if it is in one.
    private struct List {
        let file: KeyFile
        /// The applications that say of themselves what they open.
        let cache: KeyFile?
    }

    private let lists: [List]

    /// How many applications are looked at for one type.
    private static let maximumCandidates = 64

    /// The lists as they are now. This blocks as long as the file system does.
    init() {
        let (folders, names) = (UserDirectories.allConfiguration + UserDirectories.applications, Self.names)
        var lists: [List] = []
        for folder in folders {
            lists += names.compactMap { Self.read("\(folder)/\($0)") }.map { List(file: $0, cache: nil) }
            if let cache = Self.read("\(folder)/mimeinfo.cache") {
                lists.append(List(file: KeyFile(), cache: cache))
            }
        }
        self.lists = lists
    }

    private static func read(_ path: String) -> KeyFile? {
        do {
            return try KeyFile.load(path)
        } catch {
            brokerLog.debug("\(PeerText.message(path)) is ignored: \(PeerText.message(error.description))")
            return nil
        }
    }

    /// What lists are called, the most important first: each desktop may have its own.
    private static var names: [String] {
        let desktops = (Variables.all["XDG_CURRENT_DESKTOP"] ?? "").lowercased().split(separator: ":").prefix(
            8)
        return desktops.filter { !$0.contains("/") }.map { "\($0)-mimeapps.list" } + ["mimeapps.list"]
    }

    /// The lists that are not among the desktop entries.
    static var configurationFiles: [String] {
        UserDirectories.allConfiguration.flatMap { folder in names.map { "\(folder)/\($0)" } }
    }

    /// What opens each of `types`, where there is something, and it is not a type of programs.
    func applications(for types: Set<String>) -> [String: ApplicationID] {
        let contentTypes = ContentTypes()
        var found: [String: ApplicationID] = [:]
        for type in types where !contentTypes.isProgram(type) {
            found[type] = contentTypes.kinds(of: type).firstResult { application(for: $0) }
        }
        return found
    }

    /// Whether `application` can be started, and its desktop entry says that it opens `type`.
    static func opens(_ type: String, _ application: ApplicationID, _ contentTypes: ContentTypes) -> Bool {
        guard let entry = try? DesktopEntry.find(application), (try? LaunchEntry(entry, application)) != nil
        else { return false }
        return !Set((try? entry.strings("MimeType")) ?? []).isDisjoint(with: contentTypes.kinds(of: type))
    }

    /// The first application that a list names as the default and that can open something; else the first that is said to
    /// open the type, and was not removed.
    private func application(for type: String) -> ApplicationID? {
        var candidates = lists.flatMap { names(type, "Default Applications", in: $0.file) }
        var removed: Set<String> = []
        for list in lists {
            candidates += names(type, "Added Associations", in: list.file).filter { !removed.contains($0) }
            removed.formUnion(names(type, "Removed Associations", in: list.file))
            candidates +=
                list.cache.map { names(type, "MIME Cache", in: $0) }?.filter { !removed.contains($0) } ?? []
        }
        return candidates.prefix(Self.maximumCandidates).firstResult { Self.usable($0) }
    }

    private func names(_ type: String, _ group: String, in file: KeyFile) -> [String] {
        (try? file.strings(type, in: group)) ?? []
    }

    /// The application whose desktop entry is called `name`, if it is installed and can be started.
    private static func usable(_ name: String) -> ApplicationID? {
        guard name.hasSuffix(".desktop"),
            let id = try? ApplicationID(String(name.dropLast(".desktop".count))),
            (try? LaunchEntry.find(id)) != nil
        else { return nil }
        return id
    }
}
