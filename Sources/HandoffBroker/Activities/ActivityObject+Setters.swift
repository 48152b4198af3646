// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces

/// Setting one property is an update of one property.
extension ActivityObject {
    func setTitle(_ value: String, _ call: MethodCall) async throws {
        try apply(["Title": .string(value)], call)
    }

    func setUserInfo(_ value: [String: Value], _ call: MethodCall) async throws {
        try apply(["UserInfo": .properties(value)], call)
    }

    func setRequiredUserInfoKeys(_ value: [String], _ call: MethodCall) async throws {
        try apply(["RequiredUserInfoKeys": .strings(value)], call)
    }

    func setWebpageURL(_ value: String, _ call: MethodCall) async throws {
        try apply(["WebpageURL": .string(value)], call)
    }

    func setDocumentURL(_ value: String, _ call: MethodCall) async throws {
        try apply(["DocumentURL": .string(value)], call)
    }

    func setReferrerURL(_ value: String, _ call: MethodCall) async throws {
        try apply(["ReferrerURL": .string(value)], call)
    }

    func setTargetContentIdentifier(_ value: String, _ call: MethodCall) async throws {
        try apply(["TargetContentIdentifier": .string(value)], call)
    }

    func setPersistentIdentifier(_ value: String, _ call: MethodCall) async throws {
        try apply(["PersistentIdentifier": .string(value)], call)
    }

    func setKeywords(_ value: [String], _ call: MethodCall) async throws {
        try apply(["Keywords": .strings(value)], call)
    }

    func setExpirationDate(_ value: Int64, _ call: MethodCall) async throws {
        try apply(["ExpirationDate": .int64(value)], call)
    }

    func setEligibleForHandoff(_ value: Bool, _ call: MethodCall) async throws {
        try apply(["EligibleForHandoff": .boolean(value)], call)
    }

    func setEligibleForSearch(_ value: Bool, _ call: MethodCall) async throws {
        try apply(["EligibleForSearch": .boolean(value)], call)
    }

    func setSupportsContinuationStreams(_ value: Bool, _ call: MethodCall) async throws {
        try apply(["SupportsContinuationStreams": .boolean(value)], call)
    }

    func setNeedsSave(_ value: Bool, _ call: MethodCall) async throws {
        try apply(["NeedsSave": .boolean(value)], call)
    }

    func setDelegate(_ value: ObjectPath, _ call: MethodCall) async throws {
        try apply(["Delegate": .objectPath(value)], call)
    }
}
