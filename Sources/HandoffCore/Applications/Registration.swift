// SPDX-License-Identifier: LGPL-2.1-or-later

/// What an application supports, according to its desktop entry, to what it says when it registers, or to
/// both together.
package struct Declaration: Hashable, Sendable {
    /// The types that it names, in its own order; the first is used for activities that are created without a
    /// type.
    package var activityTypes: [ActivityType]
    /// The type of activities for a document, by MIME type.
    package var documentTypes: [String: ActivityType]
    /// The web hosts whose pages it can show.
    package var domains: [String]

    /// A declaration, by default an empty one.
    package init(
        activityTypes: [ActivityType] = [], documentTypes: [String: ActivityType] = [:],
        domains: [String] = []
    ) {
        self.activityTypes = activityTypes
        self.documentTypes = documentTypes
        self.domains = domains
    }

    /// All types, those of documents after those that are named, each once.
    package var types: [ActivityType] {
        var seen: Set<ActivityType> = []
        let mapped = documentTypes.sorted { $0.key < $1.key }.map(\.value)
        return (activityTypes + mapped).filter { seen.insert($0).inserted }
    }

    /// This declaration and `other` together. This one comes first, and takes precedence where both name a
    /// MIME type; `other` counts as far as ``Quota/types`` and ``Quota/domains`` leave room for it.
    package func union(_ other: Declaration) -> Declaration {
        var result = self
        var known = Set(types)
        for type in other.activityTypes where !result.activityTypes.contains(type) {
            guard known.contains(type) || known.count < Quota.types else { continue }
            known.insert(type)
            result.activityTypes.append(type)
        }
        for (mimeType, type) in other.documentTypes.sorted(by: { $0.key < $1.key })
        where result.documentTypes[mimeType] == nil && result.documentTypes.count < Quota.types {
            guard known.contains(type) || known.count < Quota.types else { continue }
            known.insert(type)
            result.documentTypes[mimeType] = type
        }
        for host in other.domains where !result.domains.contains(host) && result.domains.count < Quota.domains
        {
            result.domains.append(host)
        }
        return result
    }
}

/// An application that has registered.
package struct Registration: Hashable, Sendable {
    /// The connection that it registered from.
    package let connection: String
    /// Which application it is.
    package let applicationID: ApplicationID
    /// Whose activities it may continue.
    package private(set) var team: Team
    /// What it supports.
    package private(set) var declaration: Declaration
    /// The path of the object that continues activities.
    package let objectPath: String
    /// Whether it is handed what is continued here.
    package let receives: Bool
    /// Whether it stands for an application that does not know Handoff itself.
    package let isAdapter: Bool
    /// The package that the system says it is from; nil if it runs in no sandbox.
    package let package: SandboxPackage?
    /// The team and the declaration that it gave itself when it registered.
    private let own: (team: Team?, declaration: Declaration)

    /// A registration; without a team, the application is the only one in a team of its own.
    package init(
        connection: String, applicationID: ApplicationID, team: Team? = nil, declaration: Declaration,
        objectPath: String, receives: Bool = true, isAdapter: Bool = false, package: SandboxPackage? = nil
    ) {
        self.connection = connection
        self.applicationID = applicationID
        self.team = team ?? Team(applicationID)
        self.declaration = declaration
        self.objectPath = objectPath
        self.receives = receives
        self.isAdapter = isAdapter
        self.package = package
        own = (team, declaration)
    }

    /// This registration together with what the desktop entry adds: the entry's team if the application named
    /// none itself, and the entry's declaration, after its own.
    func joined(with entry: InstalledApplication?) -> Registration {
        var joined = self
        joined.team = own.team ?? entry?.team ?? Team(applicationID)
        joined.declaration = entry.map { own.declaration.union($0.declaration) } ?? own.declaration
        return joined
    }

    /// How much the application itself has declared.
    package var declared: ClientHoldings.Declared {
        let declaration = own.declaration
        let names = declaration.activityTypes.map(\.description) + declaration.domains
        let pairs = declaration.documentTypes.reduce(0) {
            $0 + $1.key.utf8.count + $1.value.description.utf8.count
        }
        return ClientHoldings.Declared(
            types: declaration.activityTypes.count + declaration.documentTypes.count,
            bytes: names.reduce(pairs) { $0 + $1.utf8.count } + objectPath.utf8.count)
    }

    /// Whether the two are equal in everything that counts.
    package static func == (left: Registration, right: Registration) -> Bool {
        left.connection == right.connection && left.applicationID == right.applicationID
            && left.team == right.team && left.declaration == right.declaration
            && left.objectPath == right.objectPath && left.receives == right.receives
            && left.isAdapter == right.isAdapter && left.package == right.package
    }

    /// Hashes what distinguishes most registrations.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(connection)
        hasher.combine(applicationID)
    }

    /// Whether the application declares `type`.
    package func declares(_ type: ActivityType) -> Bool {
        declaration.types.contains(type)
    }
}
