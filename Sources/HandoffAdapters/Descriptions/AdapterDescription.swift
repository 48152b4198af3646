// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore
package import Platform

/// What a file `NAME.adapter` says of an adapter: a program that stands for applications which do not know Handoff.
package struct AdapterDescription: Hashable, Sendable {
    /// What `DisabledAdapters` calls it.
    package let name: AdapterName
    /// What people call what it stands for, in the language of the environment.
    package let title: String
    /// The bus name that it takes, by which it can be started; nil if something else starts it.
    package let busName: BusName?
    /// The applications that it stands for, by the names of their desktop entries.
    package let applications: [ApplicationID]
    /// The bus names that its applications own while they run.
    package let names: [BusNamePattern]
    /// Those of ``names`` that do not count, since others own them.
    package let exceptions: [BusNamePattern]

    /// The longest file.
    package static let maximumSize = 8 << 10
    /// How many applications one may have, how many names, and how many of those that do not count.
    package static let (maximumApplications, maximumNames, maximumExceptions) = (64, 16, 32)

    private static let group = "Adapter"

    /// What `file` says of the adapter `name`.
    /// - Throws: what is wrong with which key.
    package init(_ name: AdapterName, _ file: KeyFile) throws {
        self.name = name
        let title = PeerText.title(try file.localizedString("Name", in: Self.group) ?? "")
        guard !title.isEmpty else { throw Self.wrong("Name is missing. Say what the adapter stands for.") }
        self.title = title
        let busName = try file.string("BusName", in: Self.group) ?? ""
        guard !busName.hasPrefix(":") else {
            throw Self.wrong("BusName is not a name that a program can take.")
        }
        self.busName = busName.isEmpty ? nil : try BusName(busName)
        let applications = try Self.list("Applications", in: file, atMost: Self.maximumApplications)
        guard !applications.isEmpty else {
            throw Self.wrong("Applications is missing. Name the desktop entries of those that it stands for.")
        }
        self.applications = try applications.map { try ApplicationID($0) }
        names = try Self.list("Names", in: file, atMost: Self.maximumNames).map { try BusNamePattern($0) }
        exceptions = try Self.list("Except", in: file, atMost: Self.maximumExceptions).map {
            try BusNamePattern($0)
        }
    }

    /// Whether one of its applications owns `name` while it runs.
    package func counts(_ name: String) -> Bool {
        names.contains { $0.matches(name) } && !exceptions.contains { $0.matches(name) }
    }

    private static func list(_ key: String, in file: KeyFile, atMost limit: Int) throws -> [String] {
        let texts = (try file.strings(key, in: group) ?? []).filter { !$0.isEmpty }
        guard texts.count <= limit else {
            throw HandoffFailure.tooMany("\(key) (\(texts.count))", limit: limit, advice: "Name fewer.")
        }
        return texts
    }

    private static func wrong(_ text: String) -> HandoffFailure { HandoffFailure(.invalidArguments, text) }
}
