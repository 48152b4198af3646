// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import Platform

/// What a desktop entry says about Handoff (Desktop Entry Specification; the interface
/// `org.example.Handoff.Application` describes the keys).
enum DeclaringEntry {
    private static let interface = "org.example.Handoff.Application"

    /// Reads the entry at `path`, whose desktop file id is `id` and `.desktop`.
    /// - Returns: nil if it has nothing to do with Handoff.
    /// - Throws: if it cannot be read, or is not what it should be.
    static func read(_ path: String, id: String) throws -> InstalledApplication? {
        guard let bytes = try SmallFile.read(path, maximumSize: DesktopEntry.maximumSize) else { return nil }
        // Nearly all entries have nothing to do with Handoff, and are not worth parsing.
        guard contains(bytes, Array(interface.utf8)) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw HandoffFailure(.invalidArguments, "it is not UTF-8 text.")
        }
        return try application(
            DesktopEntry(KeyFile(text: text, name: path), at: path), ApplicationID(id))
    }

    private static func application(
        _ entry: DesktopEntry, _ id: ApplicationID
    ) throws -> InstalledApplication? {
        guard try entry.isInstalled(), try entry.strings("Implements")?.contains(interface) == true
        else { return nil }
        let details = Details(of: entry)
        let types = try details.strings("ActivityTypes")
        guard types.count <= Quota.types else {
            throw HandoffFailure(
                .invalidArguments,
                "it declares \(types.count) activity types, more than the \(Quota.types) allowed.")
        }
        let domains = try RegistrationOptions.domains(details.strings("Domains"))
        let declaration = Declaration(
            activityTypes: try types.map { (type) throws(HandoffFailure) in try ActivityType(type) },
            documentTypes: try documentTypes(details), domains: domains)
        // An entry that says something illegal is refused, and not only not started.
        _ = try entry.boolean("DBusActivatable")
        let package = try package(entry)
        return InstalledApplication(
            id, team: try team(details, id, package), declaration: declaration,
            start: LaunchEntry.start(entry, id), package: package, adapter: try adapter(details),
            opensWith: try details.strings("OpensWith"))
    }

    /// What an entry says in the group that has the name of the interface, where the specification wants what is particular to
    /// one; in an entry without that group, in keys of the main group that begin with `X-Handoff-`.
    private struct Details {
        private let entry: DesktopEntry
        let group: String?
        let prefix: String

        init(of entry: DesktopEntry) {
            self.entry = entry
            (group, prefix) = entry.has(interface) ? (interface, "") : (nil, "X-Handoff-")
        }

        func string(_ key: String) throws -> String? { try entry.string(prefix + key, in: group) }
        func strings(_ key: String) throws -> [String] { try entry.strings(prefix + key, in: group) ?? [] }
    }

    private static func documentTypes(_ details: Details) throws -> [String: ActivityType] {
        try RegistrationOptions.documentTypes(
            details.strings("DocumentTypes").map { text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else {
                    throw HandoffFailure(
                        .invalidArguments,
                        "\(details.prefix)DocumentTypes: write each as MIME/TYPE=ACTIVITY-TYPE.")
                }
                return (String(parts[0]), String(parts[1]))
            })
    }

    /// An application in a sandbox does not choose freely whose activities it gets.
    private static func team(
        _ details: Details, _ id: ApplicationID, _ package: SandboxPackage?
    ) throws -> Team? {
        guard let text = try details.string("Team"), !text.isEmpty else { return nil }
        let team = try Team(text)
        guard package == nil || team.isClaimable(by: id) else {
            throw HandoffFailure(.invalidArguments, "a sandboxed application may not claim the team \(team).")
        }
        return team
    }

    /// The adapter that the entry belongs to; nil if it is that of an application which knows Handoff itself.
    private static func adapter(_ details: Details) throws -> AdapterName? {
        try details.string("Adapter").map { try AdapterName($0) }
    }

    /// The package that the entry is from; nil if its application runs in no sandbox.
    private static func package(_ entry: DesktopEntry) throws -> SandboxPackage? {
        if let application = try entry.string("X-Flatpak") { return .flatpak(application) }
        return try entry.string("X-SnapInstanceName").map { .snap($0) }
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        var rest = bytes[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: part) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
