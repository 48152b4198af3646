// SPDX-License-Identifier: LGPL-2.1-or-later

/// What an application says of itself when it registers.
package struct ApplicationDeclaration: Hashable, Sendable {
    /// The name of its desktop entry without `.desktop`.
    package var id: String
    /// The types of activities that it makes and continues, beside those of the desktop entry.
    package var activityTypes: [String]
    /// Who may continue each other's activities; nil for what the desktop entry says.
    package var team: String?
    /// By MIME type, the type of activities for documents.
    package var documentTypes: [String: String]
    /// The web hosts whose pages it shows.
    package var domains: [String]

    /// A declaration of these.
    package init(
        id: String, activityTypes: [String], team: String? = nil, documentTypes: [String: String] = [:],
        domains: [String] = []
    ) {
        self.id = id
        self.activityTypes = activityTypes
        self.team = team
        self.documentTypes = documentTypes
        self.domains = domains
    }
}
