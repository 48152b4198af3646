// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Keeps what sites have said over the end of the broker, in a file of the user's cache: a key file with a group for each
/// host. Losing it costs nothing but asking again, and so does finding something else in it.
@MainLoop
final class SitesMemory {
    private let file = RememberedFile("\(UserDirectories.cache)/handoff/sites", "What sites have said")

    /// Reads the file, where nobody waits for that, and calls `body` with what it says.
    func read(_ body: @escaping @MainLoop @Sendable ([WebHost: Site]) -> Void) {
        file.read(Self.decode, body)
    }

    /// Writes `known` to the file, where nobody waits for that. Of several, the latest stays.
    func write(_ known: [WebHost: Site]) { file.write { Self.encode(known) } }

    // MARK: The file

    private enum Key {
        static let (considered, approved) = ("Considered", "Approved")
        static let (answered, asked, failures) = ("Answered", "Asked", "Failures")
    }

    /// The file that says `known`.
    nonisolated static func encode(_ known: [WebHost: Site]) -> [UInt8] {
        let file = KeyFile()
        for (host, site) in known.sorted(by: { $0.key < $1.key }) {
            let group = host.description
            file.set(Key.considered, in: group, to: site.considered.sorted())
            file.set(Key.approved, in: group, to: site.approved.sorted())
            file.set(Key.answered, in: group, to: site.answeredAt)
            file.set(Key.asked, in: group, to: site.askedAt)
            file.set(Key.failures, in: group, to: Int64(site.failures))
        }
        return Array(file.text.utf8)
    }

    /// What the file says about each host; nothing of what cannot be understood.
    nonisolated static func decode(_ bytes: [UInt8]) -> [WebHost: Site] {
        guard let file = try? KeyFile(bytes: bytes, name: "sites") else { return [:] }
        var known: [WebHost: Site] = [:]
        for group in file.groups.prefix(SiteClaims.maximumSites) {
            guard let host = WebHost(group), let site = try? site(file, group) else { continue }
            known[host] = site
        }
        return known
    }

    /// The names that `key` lists; what cannot be one is left out.
    nonisolated private static func names(
        _ file: KeyFile, _ key: String, _ group: String
    ) throws(KeyFileError) -> Set<String> {
        Set((try file.strings(key, in: group) ?? []).filter(SiteAnswer.isName))
    }

    nonisolated private static func site(_ file: KeyFile, _ group: String) throws(KeyFileError) -> Site {
        Site(
            considered: try names(file, Key.considered, group),
            approved: try names(file, Key.approved, group),
            answeredAt: try file.integer(Key.answered, in: group) ?? 0,
            askedAt: try file.integer(Key.asked, in: group) ?? 0,
            failures: try file.integer(Key.failures, in: group).flatMap { Int(exactly: $0) } ?? 0)
    }
}
