// SPDX-License-Identifier: LGPL-2.1-or-later

/// The applications that the user keeps out of Handoff.
package struct ExcludedApplications: Hashable, Sendable {
    /// Their ids.
    package private(set) var ids: Set<ApplicationID>

    /// How many the user may exclude.
    package static let maximumCount = 256

    /// None.
    package init() { ids = [] }

    /// The applications of these ids, each once.
    /// - Throws: `invalidArguments` naming the one that is no application id, or `limitsExceeded`.
    package init(_ texts: [String]) throws(HandoffFailure) {
        self.init()
        guard texts.count <= Self.maximumCount else {
            throw .tooMany(
                "excluded applications (\(texts.count))", limit: Self.maximumCount,
                advice: "Name each only once, and leave out those that are not installed.")
        }
        for text in texts { ids.insert(try ApplicationID(text)) }
    }

    /// Their ids as texts, in alphabetical order.
    package var texts: [String] { ids.sorted().map(\.description) }

    /// The packages that are kept out because of what `installed` says of the applications.
    func packages(_ installed: [ApplicationID: InstalledApplication]) -> Set<SandboxPackage> {
        Set(ids.compactMap { installed[$0]?.package })
    }

    /// Whether one of them can only be from `package`, as its id says.
    func names(_ package: SandboxPackage) -> Bool { ids.contains { package.owns($0) } }
}
