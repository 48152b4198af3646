// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

/// What a client says of itself when it registers; see `RegisterApplication` of `org.example.Handoff.Manager`.
package struct ClientDeclaration: Equatable, Sendable {
    /// The name of the desktop entry without `.desktop`.
    package var applicationID: String
    /// The types that it supports beside those of the desktop entry.
    package var activityTypes: [String]
    /// Nil for that of the desktop entry.
    package var team: String?
    /// From MIME type to activity type.
    package var documentTypes: [String: String]
    /// Hosts whose pages it continues.
    package var domains: [String]
    /// Whether activities that are continued here are handed to it.
    package var receives: Bool
    /// Whether it stands for an application that does not know Handoff itself, which comes first if it turns out to.
    package var isAdapter: Bool

    /// A declaration of an application that receives activities.
    package init(
        applicationID: String, activityTypes: [String], team: String? = nil,
        documentTypes: [String: String] = [:], domains: [String] = [], receives: Bool = true,
        isAdapter: Bool = false
    ) {
        self.applicationID = applicationID
        self.activityTypes = activityTypes
        self.team = team
        self.documentTypes = documentTypes
        self.domains = domains
        self.receives = receives
        self.isAdapter = isAdapter
    }

    /// What it declares beside id and types.
    var options: [String: Value] {
        var options: [String: Value] = ["Receives": .boolean(receives)]
        if isAdapter { options["Adapter"] = .boolean(true) }
        if let team { options["Team"] = .string(team) }
        if !domains.isEmpty { options["Domains"] = .strings(domains) }
        let entries = documentTypes.sorted { $0.key < $1.key }
            .map { (key: Value.string($0.key), value: Value.string($0.value)) }
        // Both types are fixed, so this is never refused.
        if !entries.isEmpty, let types = try? Value.dictionary(key: "s", value: "s", entries) {
            options["DocumentTypes"] = types
        }
        return options
    }
}
