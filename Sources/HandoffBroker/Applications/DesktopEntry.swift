// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import Platform

/// What a desktop entry says about Handoff (Desktop Entry Specification; the interface
/// `org.example.Handoff.Application` describes the keys).
enum DesktopEntry {
    private static let group = "Desktop Entry"
    private static let interface = "org.example.Handoff.Application"
    /// How many bytes a file may have.
    static let maximumSize = 64 * 1024

    /// Reads the entry at `path`, whose desktop file id is `id` and `.desktop`.
    /// - Returns: nil if it has nothing to do with Handoff.
    /// - Throws: if it cannot be read, or is not what it should be.
    static func read(_ path: String, id: String) throws -> InstalledApplication? {
        guard let bytes = try SmallFile.read(path, maximumSize: maximumSize) else { return nil }
        // Nearly all entries have nothing to do with Handoff, and are not worth parsing.
        guard contains(bytes, Array(interface.utf8)) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw HandoffFailure(.invalidArguments, "it is not UTF-8 text.")
        }
        return try application(KeyFile(text: text, name: path), ApplicationID(id), path)
    }

    private static func application(
        _ file: KeyFile, _ id: ApplicationID, _ path: String
    ) throws -> InstalledApplication? {
        guard try file.string("Type", in: group) == "Application",
            try file.boolean("Hidden", in: group) != true,
            try file.strings("Implements", in: group)?.contains(interface) == true
        else { return nil }
        let types = try file.strings("X-Handoff-ActivityTypes", in: group) ?? []
        guard types.count <= Quota.types else {
            throw HandoffFailure(
                .invalidArguments,
                "it declares \(types.count) activity types, more than the \(Quota.types) allowed.")
        }
        let domains = try RegistrationOptions.domains(file.strings("X-Handoff-Domains", in: group) ?? [])
        let declaration = Declaration(
            activityTypes: try types.map { (type) throws(HandoffFailure) in try ActivityType(type) },
            documentTypes: try documentTypes(file), domains: domains)
        // An entry that says something illegal is refused, and not only not started.
        _ = try file.boolean("DBusActivatable", in: group)
        let package = try package(file)
        return InstalledApplication(
            id, team: try team(file, id, package), declaration: declaration,
            start: LaunchEntry.start(file, id, path: path), package: package, adapter: try adapter(file))
    }

    private static func documentTypes(_ file: KeyFile) throws -> [String: ActivityType] {
        let texts = try file.strings("X-Handoff-DocumentTypes", in: group) ?? []
        return try RegistrationOptions.documentTypes(
            texts.map { text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else {
                    throw HandoffFailure(
                        .invalidArguments, "X-Handoff-DocumentTypes: write each as MIME/TYPE=ACTIVITY-TYPE.")
                }
                return (String(parts[0]), String(parts[1]))
            })
    }

    /// An application in a sandbox does not choose freely whose activities it gets.
    private static func team(
        _ file: KeyFile, _ id: ApplicationID, _ package: SandboxPackage?
    ) throws -> Team? {
        guard let text = try file.string("X-Handoff-Team", in: group), !text.isEmpty else { return nil }
        let team = try Team(text)
        guard package == nil || team.isClaimable(by: id) else {
            throw HandoffFailure(.invalidArguments, "a sandboxed application may not claim the team \(team).")
        }
        return team
    }

    /// The adapter that the entry belongs to; nil if it is that of an application which knows Handoff itself.
    private static func adapter(_ file: KeyFile) throws -> AdapterName? {
        try file.string("X-Handoff-Adapter", in: group).map { try AdapterName($0) }
    }

    /// The package that the entry is from; nil if its application runs in no sandbox.
    private static func package(_ file: KeyFile) throws -> SandboxPackage? {
        if let application = try file.string("X-Flatpak", in: group) { return .flatpak(application) }
        return try file.string("X-SnapInstanceName", in: group).map { .snap($0) }
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
