// SPDX-License-Identifier: LGPL-2.1-or-later

extension UserActivity {
    /// Adds entries to ``userInfo``, which take the place of those with the same keys.
    public func addUserInfoEntries(from other: UserInfo) {
        var merged = userInfo
        merged.merge(other)
        userInfo = merged
    }

    /// The keys of ``userInfo`` that the present typed payload has taken.
    var payloadKeys: Set<String> {
        get { saveGivenUp?.draft?.payloadKeys ?? storedPayloadKeys.present }
        set {
            if let save = saveGivenUp {
                save.draft?.payloadKeys = newValue
            } else {
                storedPayloadKeys.present = newValue
                storedPayloadKeys.all.formUnion(newValue)
            }
        }
    }

    /// Under which a payload is kept that has no properties, such as an array.
    private static let singleKey = "payload"

    /// Puts a value of the application's own type into ``userInfo``: each property of a structure is an entry, in place
    /// of those of the payload before. Dates, URLs, data, sets, nil and whole numbers of 64 bits keep their types.
    /// - Throws: what rule it breaks; then nothing has changed.
    public func setTypedPayload<Payload: Encodable>(_ payload: Payload) throws(HandoffError) {
        let encoded = try PayloadEncoder.encode(payload)
        let new: [String: UserInfoValue] =
            if case .dictionary(let entries) = encoded { entries } else { [Self.singleKey: encoded] }
        var changed = userInfo
        for key in payloadKeys where new[key] == nil { changed[key] = nil }
        changed.merge(UserInfo(new))
        try set(\.userInfo, to: changed)
        payloadKeys = Set(new.keys)
    }

    /// The value that ``setTypedPayload(_:)`` has put there, here or on another device.
    /// - Throws: what does not fit, and where. Whatever another device has sent, nothing else happens.
    public func typedPayload<Payload: Decodable>(_ type: Payload.Type) throws(HandoffError) -> Payload {
        do {
            return try PayloadDecoder.decode(type, from: .dictionary(userInfo.entries))
        } catch {
            guard userInfo.entries.count == 1, let single = userInfo[Self.singleKey] else { throw error }
            return try PayloadDecoder.decode(type, from: single)
        }
    }
}
