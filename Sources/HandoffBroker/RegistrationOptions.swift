// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop

/// The options of `RegisterApplication`, checked.
struct RegistrationOptions {
    private(set) var team: Team?
    private(set) var domains: [String] = []
    private(set) var documentTypes: [String: ActivityType] = [:]

    /// How many hosts an application may claim.
    static let maximumDomains = 32

    /// - Throws: `InvalidArgs` naming the option, or `LimitsExceeded`.
    init(_ options: [String: Value]) throws(HandoffFailure) {
        for (key, value) in options {
            switch key {
            case "Team": team = try Team(ActivityState.string(value, key))
            case "Domains":
                domains = try ActivityState.strings(value, key)
                guard domains.count <= Self.maximumDomains else {
                    throw HandoffFailure(
                        .limitsExceeded,
                        "Domains names \(domains.count) hosts, more than the \(Self.maximumDomains) allowed.")
                }
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
        var result: [String: ActivityType] = [:]
        for entry in dictionary.entries {
            guard let mimeType = entry.key.string, let type = entry.value.string else { continue }
            let parts = mimeType.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, mimeType.utf8.count <= 255 else {
                throw HandoffFailure(
                    .invalidArguments,
                    "DocumentTypes: \"\(PeerText.message(mimeType))\" is not a MIME type. Use one such as text/plain."
                )
            }
            result[mimeType] = try ActivityType(type)
        }
        return result
    }
}
