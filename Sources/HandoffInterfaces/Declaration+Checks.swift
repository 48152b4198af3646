// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

// What is checked when an application registers, and when its desktop entry is read.
extension Declaration {
    /// The hosts that `domains` claims, in lower case and ASCII form.
    /// - Throws: if there are too many, or one of them is not valid.
    package static func domains(_ domains: [String]) throws(HandoffFailure) -> [String] {
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

    /// The activity type for documents of each MIME type.
    /// - Throws: if there are too many, or a text is not what it should be.
    package static func documentTypes(
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
