// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import FoundationEssentials
internal import HandoffCore
internal import HandoffInterfaces

/// What an application has set of an activity, in its own types and, checked by the rules of the broker, as it travels.
struct ActivityContent {
    var title = ""
    var userInfo = UserInfo()
    var requiredUserInfoKeys: Set<String> = []
    var webpageURL: URL?
    var documentURL: URL?
    var referrerURL: URL?
    var keywords: Set<String> = []
    var expirationDate: Date?
    var targetContentIdentifier: String?
    var persistentIdentifier: String?
    var isEligibleForHandoff = true
    var isEligibleForSearch = false
    var supportsContinuationStreams = false
    /// The same under the names of `org.example.Handoff.Activity`.
    private var state = ActivityState()

    /// All that are set, as they travel.
    var properties: [String: Value] { state.shared }

    /// Sets one property.
    /// - Returns: its value as it travels.
    /// - Throws: what rule it breaks; then nothing has changed.
    mutating func set<Property: ActivityProperty>(
        _ field: WritableKeyPath<ActivityContent, Property>, _ name: String, _ new: Property
    ) throws(HandoffError) -> Value {
        do {
            let value = try new.propertyValue()
            try state.apply([name: value], isKept: false)
            self[keyPath: field] = new
            return value
        } catch {
            throw HandoffError(error)
        }
    }

    /// Takes over one property of `other`, which was checked with it.
    mutating func take<Property: ActivityProperty>(
        _ field: WritableKeyPath<ActivityContent, Property>, of other: ActivityContent
    ) {
        self[keyPath: field] = other[keyPath: field]
        state = other.state
    }
}

extension ActivityContent {
    /// The same with these properties, as they travel, nil for those that are not set.
    /// - Throws: what rule of the broker's they break.
    func with(_ properties: [String: Value?]) throws(HandoffError) -> ActivityContent {
        var all = self.properties
        for (name, value) in properties { all[name] = value }
        return try ActivityContent(received: all)
    }

    /// What another device has sent.
    /// - Throws: what rule of the broker's it breaks.
    init(received properties: [String: Value]) throws(HandoffError) {
        var known = properties
        for name in ["ActivityType", "ApplicationId", "Team", "Revision", "DocumentType"] {
            known[name] = nil
        }
        do throws(HandoffFailure) {
            try state.apply(known, isKept: false)
        } catch {
            throw HandoffError(error)
        }
        title = state.title
        userInfo = try UserInfo(properties: known["UserInfo"]?.properties ?? [:])
        requiredUserInfoKeys = Set(state.requiredUserInfoKeys)
        webpageURL = try Self.url(state.webpageURL, "WebpageURL")
        documentURL = try Self.url(state.documentURL, "DocumentURL")
        referrerURL = try Self.url(state.referrerURL, "ReferrerURL")
        keywords = Set(state.keywords)
        expirationDate = state.expirationDate == 0 ? nil : Date(microseconds: state.expirationDate)
        targetContentIdentifier = state.targetContentIdentifier.isEmpty ? nil : state.targetContentIdentifier
        persistentIdentifier = state.persistentIdentifier.isEmpty ? nil : state.persistentIdentifier
        isEligibleForHandoff = state.eligibleForHandoff
        isEligibleForSearch = state.eligibleForSearch
        supportsContinuationStreams = state.supportsContinuationStreams
    }

    private static func url(_ text: String, _ name: String) throws(HandoffError) -> URL? {
        guard !text.isEmpty else { return nil }
        guard let url = URL(string: text) else {
            throw HandoffError(.invalidURL, "\(name) “\(PeerText.message(text))” is not a URL.")
        }
        return url
    }
}

/// A type that a property of an activity has.
protocol ActivityProperty: Equatable {
    /// The value as it travels.
    func propertyValue() throws(HandoffError) -> Value
}

extension String: ActivityProperty {
    func propertyValue() throws(HandoffError) -> Value { .string(try UserInfoValue.checked(self)) }
}

extension Bool: ActivityProperty {
    func propertyValue() -> Value { .boolean(self) }
}

extension UserInfo: ActivityProperty {
    func propertyValue() throws(HandoffError) -> DBus.Value { .properties(try dbusProperties()) }
}

extension Set: ActivityProperty where Element == String {
    func propertyValue() throws(HandoffError) -> Value {
        var texts: [String] = []
        for text in sorted() { texts.append(try UserInfoValue.checked(text)) }
        return .strings(texts)
    }
}

extension Optional: ActivityProperty where Wrapped: OptionalActivityProperty {
    func propertyValue() throws(HandoffError) -> Value {
        guard let self else { return Wrapped.unset }
        return try self.value()
    }
}

/// A type of a property that need not be set.
protocol OptionalActivityProperty: Equatable {
    /// What stands for none.
    static var unset: Value { get }
    /// The value as it travels.
    func value() throws(HandoffError) -> Value
}

extension URL: OptionalActivityProperty {
    static var unset: Value { .string("") }
    func value() throws(HandoffError) -> Value { .string(try UserInfoValue.checked(absoluteString)) }
}

extension String: OptionalActivityProperty {
    static var unset: Value { .string("") }
    func value() throws(HandoffError) -> Value { try propertyValue() }
}

extension Date: OptionalActivityProperty {
    static var unset: Value { .int64(0) }
    func value() throws(HandoffError) -> Value {
        let microseconds = try UserInfoValue.microseconds(of: self)
        // 0 would be none.
        return .int64(microseconds == 0 ? -1 : microseconds)
    }
}
