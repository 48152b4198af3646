// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import Platform

/// What a script says about its activity: a JSON object, whose members have the names and values that `handoff receive`
/// prints.
struct ActivityUpdate: Equatable {
    /// The properties of `org.example.Handoff.Activity` that change.
    let properties: [String: Value]
    /// What `passing` says; nil if it is not there.
    let passing: Bool?

    /// The properties that can be set, by the names of the members, with their types.
    private static let settable: [String: (property: String, type: String)] = [
        "title": ("Title", "s"), "userInfo": ("UserInfo", "a{sv}"),
        "requiredUserInfoKeys": ("RequiredUserInfoKeys", "as"), "webpageURL": ("WebpageURL", "s"),
        "documentURL": ("DocumentURL", "s"), "referrerURL": ("ReferrerURL", "s"),
        "targetContentIdentifier": ("TargetContentIdentifier", "s"),
        "persistentIdentifier": ("PersistentIdentifier", "s"), "keywords": ("Keywords", "as"),
        "expirationDate": ("ExpirationDate", "x"), "eligibleForHandoff": ("EligibleForHandoff", "b"),
        "eligibleForSearch": ("EligibleForSearch", "b"), "needsSave": ("NeedsSave", "b"),
    ]

    /// What says how another member is meant.
    private static let helping: Set<String> = ["userInfoTypes", "userInfoText", "documentPath", "passing"]

    /// What `handoff receive` prints besides: it means nothing here, so that what one command has printed can be what the other
    /// one reads.
    private static let meaningless: Set<String> = [
        "event", "type", "activityType", "applicationId", "device", "deviceId", "deviceName",
        "supportsContinuationStreams",
    ]

    /// What `bytes` say, which are one JSON object.
    /// - Throws: what is wrong with them, and what to do.
    init(_ bytes: [UInt8]) throws(CommandFailure) {
        guard case .object(let list) = try JSON.reading(bytes) else {
            throw CommandFailure(
                tr("It is not an object. Write {example}.", ["example": "{\"title\": …, \"userInfo\": {…}}"]))
        }
        let members = Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0.value) })
        var properties: [String: Value] = [:]
        for (name, value) in members where name != "userInfo" {
            if let (property, type) = Self.settable[name] {
                properties[property] = try Self.naming(name) { () throws(CommandFailure) in
                    value == .null ? try Self.unset(type) : try value.value(as: type)
                }
            } else if !Self.helping.contains(name), !Self.meaningless.contains(name) {
                throw Self.unknown(name)
            }
        }
        properties["UserInfo"] = try Self.userInfo(members)
        if properties["DocumentURL"] == nil, case .string(let path)? = members["documentPath"] {
            properties["DocumentURL"] = .string(try PublishedDocument(Array(try JSON.checked(path).utf8)).url)
        }
        self.properties = properties
        switch members["passing"] {
        case .boolean(let flag): passing = flag
        case nil: passing = nil
        case .some: throw CommandFailure(tr("“passing” has to be true or false."))
        }
    }

    private static func unknown(_ name: String) -> CommandFailure {
        let nearest = NearestWord.to(name, among: settable.keys.sorted() + helping.sorted())
        let advice =
            nearest.map { tr("Did you mean “{name}”?", ["name": $0]) }
            ?? tr("What belongs to the application has to be in “userInfo”.")
        return CommandFailure(
            tr("“{name}” is not a property of an activity.", ["name": name.shown]) + " \(advice)")
    }

    /// What a property of this type is that has no value.
    private static func unset(_ type: String) throws(CommandFailure) -> Value {
        switch type {
        case "s": return .string("")
        case "as": return .strings([])
        case "x": return .int64(0)
        default: throw CommandFailure(tr("It has to be true or false."))
        }
    }

    // MARK: State

    /// The state: as plain JSON, with the types that are told, or else as the text that loses nothing; nil if it is not told.
    private static func userInfo(_ members: [String: JSON]) throws(CommandFailure) -> Value? {
        if let state = members["userInfo"] {
            return try naming("userInfo") { () throws(CommandFailure) in
                try userInfo(state, members["userInfoTypes"])
            }
        }
        guard case .string(let text)? = members["userInfoText"] else { return nil }
        let value = try VariantText.value(of: text)
        guard value.properties != nil else {
            throw CommandFailure(
                tr(
                    "“userInfoText” is not a dictionary of the type {type}: begin it with @{type}.",
                    ["type": "a{sv}"]))
        }
        return value
    }

    private static func userInfo(_ state: JSON, _ types: JSON?) throws(CommandFailure) -> Value {
        if state == .null { return .properties([:]) }
        guard case .object(let entries) = state else { throw CommandFailure(tr("It has to be an object.")) }
        var told: [String: JSON] = [:]
        if case .object(let list)? = types {
            told = Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0.value) })
        }
        var userInfo: [String: Value] = [:]
        for entry in entries {
            let value = try naming(entry.name) { () throws(CommandFailure) in
                guard case .string(let type)? = told[entry.name] else { return try entry.value.value }
                guard Signature.isSingle(type) else {
                    throw CommandFailure(tr("“{type}” is not a type of D-Bus.", ["type": type.shown]))
                }
                return try entry.value.value(as: type)
            }
            userInfo[try JSON.checked(entry.name)] = value
        }
        return .properties(userInfo)
    }

    /// Has a failure say which member is meant.
    private static func naming<Result>(
        _ name: String, _ body: () throws(CommandFailure) -> Result
    ) throws(CommandFailure) -> Result {
        do throws(CommandFailure) { return try body() } catch {
            throw CommandFailure("\(name.inQuotes): \(error.message)")
        }
    }
}
