// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// The options of `RegisterApplication`, checked.
struct RegistrationOptions {
    private(set) var team: Team?
    private(set) var domains: [String] = []
    private(set) var documentTypes: [String: ActivityType] = [:]
    /// Whether the application is handed what is continued here.
    private(set) var receives = true
    /// Whether it stands for an application that does not know Handoff itself.
    private(set) var isAdapter = false

    /// - Throws: `InvalidArgs` naming the option, or `LimitsExceeded`.
    init(_ options: [String: Value]) throws(HandoffFailure) {
        for (key, value) in options {
            switch key {
            case "Team": team = try Team(ActivityState.string(value, key))
            case "Domains":
                domains = try Declaration.domains(ActivityState.strings(value, key))
            case "Receives": receives = try ActivityState.boolean(value, key)
            case "Adapter": isAdapter = try ActivityState.boolean(value, key)
            case "DocumentTypes": documentTypes = try Self.documentTypes(value)
            default:
                brokerLog.debug(
                    "The unknown option \(PeerText.message(key)) of RegisterApplication is ignored.")
            }
        }
    }

    private static func documentTypes(_ value: Value) throws(HandoffFailure) -> [String: ActivityType] {
        guard case .dictionary(let dictionary) = value, dictionary.keySignature == "s",
            dictionary.valueSignature == "s"
        else { throw ActivityState.wrongType("DocumentTypes", "a{ss}", value) }
        return try Declaration.documentTypes(
            dictionary.entries.compactMap { entry in
                guard let mimeType = entry.key.string, let type = entry.value.string else { return nil }
                return (mimeType, type)
            })
    }
}
