// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// An offer as the `summary` dictionary of `Peer.Offer`, and the summary of what `Fetch` returns, to compare
/// with it.
enum OfferSummary {
    /// How many bytes a summary may have.
    static let maximumSize = 4096

    static func encode(_ offer: Offer) -> [String: Value] {
        var summary: [String: Value] = [
            "ActivityType": .string(offer.type.description),
            "Title": .string(offer.title),
            "ApplicationId": .string(offer.applicationID.description),
            "Team": .string(offer.team.description),
            "SupportsContinuationStreams": .boolean(offer.supportsContinuationStreams),
            "Revision": .uint64(offer.revision),
            "Since": .int64(offer.since),
        ]
        if offer.lastUsed != offer.since { summary["Used"] = .int64(offer.lastUsed) }
        if let host = offer.webpageHost { summary["WebpageHost"] = .string(host) }
        if let type = offer.documentType { summary["DocumentType"] = .string(type) }
        return summary
    }

    /// `offers`, or the first of them, as many as take no more than ``maximumListSize``.
    static func encode(_ offers: [Offer]) -> [ListedActivity] {
        var size = 0
        return offers.map { ListedActivity($0.id.description, encode($0)) }.prefix { listed in
            // An id and what aligns it take less than 64 bytes.
            size += MarshalledSize.ofBody(listed.fields.1) + 64
            return size <= maximumListSize
        }
    }

    /// How many bytes what is listed may have.
    static let maximumListSize = 64 << 10

    /// One of what a peer has listed, and when it left it here, in microseconds since the Unix epoch; 0 if it did not.
    typealias Decoded = (offer: Offer, parkedAt: Int64)

    /// What a peer has listed, as it is now.
    /// - Throws: `InvalidArgs` or `LimitsExceeded`, saying which rule it breaks.
    static func decode(_ listed: [ListedActivity], now: Int64) throws(HandoffFailure) -> [Decoded] {
        guard listed.count <= Quota.open else {
            throw HandoffFailure(
                .limitsExceeded, "It has listed \(listed.count) activities, more than \(Quota.open).")
        }
        var decoded: [Decoded] = []
        for one in listed {
            let offer = try decode(try ActivityID(checking: one.fields.0), one.fields.1, now: now)
            guard !decoded.contains(where: { $0.offer.id == offer.id }) else {
                throw HandoffFailure(.invalidArguments, "It has listed activity \(offer.id) twice.")
            }
            decoded.append((offer, try parkedAt(one.fields.1) ?? 0))
        }
        return decoded
    }

    /// The offer that a peer's `summary` describes.
    /// - Throws: `InvalidArgs` naming the key, or `LimitsExceeded`.
    static func decode(_ id: ActivityID, _ summary: [String: Value], now: Int64) throws(HandoffFailure)
        -> Offer
    {
        let size = MarshalledSize.ofBody(summary)
        guard size <= maximumSize else {
            throw HandoffFailure(
                .limitsExceeded,
                "The summary takes \(size) bytes, more than the \(maximumSize) allowed. Shorten it.")
        }
        return try offer(
            id, summary, webpageHost: text(summary, "WebpageHost"), since: number(summary, "Since") ?? now,
            lastUsed: number(summary, "Used"))
    }

    /// When what `summary` describes was left here, in microseconds since the Unix epoch; nil if it does not say.
    static func parkedAt(_ summary: [String: Value]) throws(HandoffFailure) -> Int64? {
        try number(summary, "Parked").map { max(1, $0) }
    }

    /// The activity of which `summary` describes the state, if it was kept for this device while that was away.
    static func origin(_ summary: [String: Value]) throws(HandoffFailure) -> ActivityID? {
        guard let text = try text(summary, "Kept") else { return nil }
        return try ActivityID(checking: text)
    }

    /// What was fetched, as the offer that would have summarised it.
    /// - Throws: `InvalidArgs` or `InvalidURL` if it breaks a rule.
    static func summarise(
        _ id: ActivityID, _ activity: [String: Value], _ state: ActivityState, since: Int64
    ) throws(HandoffFailure) -> Offer {
        try offer(id, activity, webpageHost: state.webpageHost, since: since)
    }

    private static func offer(
        _ id: ActivityID, _ values: [String: Value], webpageHost: String?, since: Int64,
        lastUsed: Int64? = nil
    ) throws(HandoffFailure) -> Offer {
        guard let type = try text(values, "ActivityType"), let application = try text(values, "ApplicationId")
        else {
            throw HandoffFailure(.invalidArguments, "ActivityType and ApplicationId are required.")
        }
        let applicationID = try ApplicationID(application)
        let team = try text(values, "Team")
        let streams = try values["SupportsContinuationStreams"].map { (value) throws(HandoffFailure) in
            try ActivityState.boolean(value, "SupportsContinuationStreams")
        }
        return Offer(
            id: id, type: try ActivityType(type), title: try text(values, "Title") ?? "",
            applicationID: applicationID,
            team: try team.map { (text) throws(HandoffFailure) in try Team(text) } ?? Team(applicationID),
            webpageHost: webpageHost, documentType: try text(values, "DocumentType"),
            supportsContinuationStreams: streams ?? false, revision: try revision(values), since: since,
            lastUsed: lastUsed)
    }

    private static func text(_ values: [String: Value], _ key: String) throws(HandoffFailure) -> String? {
        guard let value = values[key] else { return nil }
        return try ActivityState.string(value, key)
    }

    private static func number(_ values: [String: Value], _ key: String) throws(HandoffFailure) -> Int64? {
        guard let value = values[key] else { return nil }
        guard case .int64(let number) = value else { throw ActivityState.wrongType(key, "x", value) }
        return number
    }

    private static func revision(_ values: [String: Value]) throws(HandoffFailure) -> UInt64 {
        guard let value = values["Revision"] else { return 0 }
        guard case .uint64(let number) = value else { throw ActivityState.wrongType("Revision", "t", value) }
        return number
    }
}
