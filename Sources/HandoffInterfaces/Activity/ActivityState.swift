// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// The properties of an activity that its application sets, checked: a value that breaks a rule never gets in.
package struct ActivityState: Equatable {
    package var title = ""
    package private(set) var userInfo = UserInfo()
    private var packedRequiredKeys = PackedTexts()
    package var webpageURL = ""
    package var documentURL = ""
    package var referrerURL = ""
    package var targetContentIdentifier = ""
    package var persistentIdentifier = ""
    private var packedKeywords = PackedTexts()
    /// Microseconds since the Unix epoch, 0 for none.
    package var expirationDate: Int64 = 0
    package var eligibleForHandoff = true
    package var eligibleForSearch = false
    package var supportsContinuationStreams = false
    /// `/` for the object that the application registered.
    package var delegate: ObjectPath = .root

    /// Derived from `webpageURL`: its host in ASCII form.
    package private(set) var webpageHost: String?
    /// Derived from `documentURL`: its MIME type.
    package private(set) var documentType: String?

    /// The marshalled size of all but `UserInfo`.
    private var otherSize = 0

    /// Properties of which none is set.
    package init() {}

    package var requiredUserInfoKeys: [String] { packedRequiredKeys.texts }
    package var keywords: [String] { packedKeywords.texts }
    /// How many bytes all of it takes, marshalled.
    package var size: Int { userInfo.size + otherSize }

    /// The bytes that a title may take.
    package static let maximumTitle = 4096
    /// The bytes that all properties together may take, marshalled.
    package static let maximumSize = 256 * 1024

    /// Takes over those of `properties` that are properties of an activity, all or none of them.
    /// - Returns: the new value of `NeedsSave`, which is kept elsewhere; nil if it is not among them.
    /// - Parameters:
    ///   - types: which names of documents stand for which types.
    ///   - isKept: this stays, and so takes about the bytes that it has on the bus.
    ///   - holding: is told how many bytes it would take then, all of it checked, and may throw.
    ///   - ignoring: is told each key that is no property of an activity.
    /// - Throws: `InvalidArgs` naming the key, `InvalidURL`, `UserInfoTooLarge`, `LimitsExceeded`.
    @discardableResult
    package mutating func apply(
        _ properties: [String: Value], _ types: FileNameTypes = FileNameTypes(), isKept: Bool = true,
        holding: (_ size: Int) throws(HandoffFailure) -> Void = { (_) throws(HandoffFailure) in },
        ignoring: (_ key: String) -> Void = { _ in }
    ) throws(HandoffFailure) -> Bool? {
        var changed = self
        var needsSave: Bool?
        for (key, value) in properties {
            if key == "NeedsSave" {
                needsSave = try Self.boolean(value, key)
            } else if try !changed.setText(key, value, types), try !changed.setOther(key, value) {
                ignoring(key)
            }
        }
        if isKept { changed.userInfo = try changed.userInfo.packed() }
        try changed.check(changing: properties)
        try holding(changed.size)
        self = changed
        return needsSave
    }

    /// Other names stand for other `types` now.
    /// - Returns: whether the document has another type because of that.
    package mutating func changed(_ types: FileNameTypes) -> Bool {
        let former = documentType
        documentType = ActivityURL.documentType(documentURL, types)
        return documentType != former
    }

    /// - Returns: whether `key` names a text.
    private mutating func setText(
        _ key: String, _ value: Value, _ types: FileNameTypes
    ) throws(HandoffFailure) -> Bool {
        switch key {
        case "Title":
            title = try Self.string(value, key)
            // Others may read this property, of all activities at once.
            guard title.utf8.count <= Self.maximumTitle else {
                throw HandoffFailure(
                    .limitsExceeded,
                    "Title takes \(title.utf8.count) bytes, more than the \(Self.maximumTitle) allowed. Shorten it."
                )
            }
        case "WebpageURL":
            webpageURL = try Self.string(value, key)
            webpageHost = try ActivityURL.checkWeb(webpageURL, key)
        case "DocumentURL":
            documentURL = try Self.string(value, key)
            try ActivityURL.checkDocument(documentURL)
            documentType = ActivityURL.documentType(documentURL, types)
        case "ReferrerURL":
            referrerURL = try Self.string(value, key)
            try ActivityURL.checkWeb(referrerURL, key)
        case "TargetContentIdentifier": targetContentIdentifier = try Self.string(value, key)
        case "PersistentIdentifier": persistentIdentifier = try Self.string(value, key)
        default: return false
        }
        return true
    }

    /// - Returns: whether `key` names another property.
    private mutating func setOther(_ key: String, _ value: Value) throws(HandoffFailure) -> Bool {
        switch key {
        case "UserInfo": userInfo = try UserInfo(value)
        case "RequiredUserInfoKeys": packedRequiredKeys = PackedTexts(try Self.strings(value, key))
        case "Keywords": packedKeywords = PackedTexts(try Self.strings(value, key))
        case "ExpirationDate":
            guard case .int64(let date) = value else { throw Self.wrongType(key, "x", value) }
            expirationDate = date
        case "EligibleForHandoff": eligibleForHandoff = try Self.boolean(value, key)
        case "EligibleForSearch": eligibleForSearch = try Self.boolean(value, key)
        case "SupportsContinuationStreams": supportsContinuationStreams = try Self.boolean(value, key)
        case "Delegate":
            guard case .objectPath(let path) = value else { throw Self.wrongType(key, "o", value) }
            try Self.refuseReserved(path, key)
            delegate = path
        default: return false
        }
        return true
    }

    /// Throws if `path`, where `what` is to be called, is one that no bus lets calls through to.
    package static func refuseReserved(_ path: ObjectPath, _ what: String) throws(HandoffFailure) {
        guard path.isReserved else { return }
        throw HandoffFailure(
            .invalidArguments, "\(what), \(path), is reserved by D-Bus. Export the object at another path.")
    }

    /// Checks how much the properties take together; measures only the part that has changed.
    private mutating func check(changing properties: [String: Value]) throws(HandoffFailure) {
        if properties.count > (properties["UserInfo"] == nil ? 0 : 1) {
            var size = MarshalledSize()
            size.add(.properties([:]))
            forEachOther { size.addProperty($0, $1) }
            otherSize = size.bytes + delegate.text.utf8.count
        }
        // Put together, the two parts lose one length and gain an entry's key and padding.
        guard userInfo.size + otherSize > Self.maximumSize - 64 else { return }
        let size = MarshalledSize.ofBody(shared) + delegate.text.utf8.count
        guard size <= Self.maximumSize else {
            throw HandoffFailure(
                .limitsExceeded,
                "The activity's properties take \(size) bytes together, more than the \(Self.maximumSize)"
                    + " allowed. Shorten them.")
        }
    }

    /// The properties that are set and that a continuation gets.
    package var shared: [String: Value] {
        var result: [String: Value] = [:]
        forEachOther { result[$0] = $1 }
        if !userInfo.isEmpty { result["UserInfo"] = userInfo.value }
        return result
    }

    /// Calls `body` with each of these properties except `UserInfo`.
    private func forEachOther(_ body: (String, Value) -> Void) {
        let texts: KeyValuePairs = [
            "Title": title, "WebpageURL": webpageURL, "DocumentURL": documentURL, "ReferrerURL": referrerURL,
            "TargetContentIdentifier": targetContentIdentifier, "PersistentIdentifier": persistentIdentifier,
        ]
        for (key, text) in texts where !text.isEmpty { body(key, .string(text)) }
        if !packedRequiredKeys.isEmpty { body("RequiredUserInfoKeys", .strings(requiredUserInfoKeys)) }
        if !packedKeywords.isEmpty { body("Keywords", .strings(keywords)) }
        if expirationDate != 0 { body("ExpirationDate", .int64(expirationDate)) }
        if !eligibleForHandoff { body("EligibleForHandoff", .boolean(false)) }
        if eligibleForSearch { body("EligibleForSearch", .boolean(true)) }
        if supportsContinuationStreams { body("SupportsContinuationStreams", .boolean(true)) }
    }

    /// What decides whether and how the activity is offered. `isExcluded`: whether the user keeps its application out.
    package func details(team: Team, isExcluded: Bool = false) -> SessionActivity.Details {
        SessionActivity.Details(
            title: title, team: team, webpageHost: webpageHost, documentType: documentType,
            supportsContinuationStreams: supportsContinuationStreams,
            isEligibleForHandoff: eligibleForHandoff, isExcluded: isExcluded,
            expirationDate: expirationDate)
    }
}

extension ActivityState {
    package static func wrongType(_ key: String, _ expected: String, _ value: Value) -> HandoffFailure {
        HandoffFailure(
            .invalidArguments, "\(key) must have the type \(expected), not \(value.typeSignature).")
    }

    package static func string(_ value: Value, _ key: String) throws(HandoffFailure) -> String {
        guard case .string(let text) = value else { throw wrongType(key, "s", value) }
        return text
    }

    package static func strings(_ value: Value, _ key: String) throws(HandoffFailure) -> [String] {
        guard let strings = value.strings else { throw wrongType(key, "as", value) }
        return strings
    }

    package static func boolean(_ value: Value, _ key: String) throws(HandoffFailure) -> Bool {
        guard case .boolean(let value) = value else { throw wrongType(key, "b", value) }
        return value
    }
}
