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
                domains = try Self.domains(ActivityState.strings(value, key))
            case "Receives": receives = try ActivityState.boolean(value, key)
            case "Adapter": isAdapter = try ActivityState.boolean(value, key)
            case "DocumentTypes": documentTypes = try Self.documentTypes(value)
            default:
                brokerLog.debug(
                    "The unknown option \(PeerText.message(key)) of RegisterApplication is ignored.")
            }
        }
    }

    /// The hosts that `domains` claims, in lower case and ASCII form.
    /// - Throws: if there are too many, or one of them is not valid.
    static func domains(_ domains: [String]) throws(HandoffFailure) -> [String] {
        guard domains.count <= Quota.domains else {
            throw HandoffFailure(
                .limitsExceeded,
                "Domains names \(domains.count) hosts, more than the \(Quota.domains) allowed.")
        }
        return try domains.map { (text) throws(HandoffFailure) in try domain(text) }
    }

    private static func domain(_ text: String) throws(HandoffFailure) -> String {
        let (prefix, host) = text.hasPrefix("*.") ? ("*.", String(text.dropFirst(2))) : ("", text)
        guard let ascii = ActivityURL.asciiHost(host), let claim = DomainClaim(prefix + ascii) else {
            throw HandoffFailure(
                .invalidArguments,
                "Domains: \"\(PeerText.message(text))\" is not a public host. Use one such as www.example.com or"
                    + " *.example.com, without a port; not an IP address, localhost, or a name of a local network such as printer.local."
            )
        }
        return claim.description
    }

    private static func documentTypes(_ value: Value) throws(HandoffFailure) -> [String: ActivityType] {
        guard case .dictionary(let dictionary) = value, dictionary.keySignature == "s",
            dictionary.valueSignature == "s"
        else { throw ActivityState.wrongType("DocumentTypes", "a{ss}", value) }
        return try documentTypes(
            dictionary.entries.compactMap { entry in
                guard let mimeType = entry.key.string, let type = entry.value.string else { return nil }
                return (mimeType, type)
            })
    }

    /// The activity type for documents of each MIME type.
    /// - Throws: if there are too many, or a text is not what it should be.
    static func documentTypes(
        _ entries: [(mimeType: String, type: String)]
    ) throws(HandoffFailure) -> [String: ActivityType] {
        guard entries.count <= Quota.types else {
            throw HandoffFailure(
                .limitsExceeded,
                "DocumentTypes has \(entries.count) entries, more than the \(Quota.types) allowed.")
        }
        var result: [String: ActivityType] = [:]
        for (mimeType, type) in entries {
            let parts = mimeType.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, mimeType.utf8.count <= 255,
                mimeType.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else {
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
