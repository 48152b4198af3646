// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FuzzSupport
import HandoffCore
import HandoffInterfaces

@testable import HandoffBroker

/// Dictionaries that claim to be an activity, an offer's summary or the options of a registration.
enum ActivityTest {
    private static let id = ActivityID("00112233445566778899aabbccddeeff")
    private static let now: Int64 = 1_700_000_000_000_000

    static func run(_ bytes: [UInt8]) {
        var choices = Choices(bytes)
        switch choices.below(4) {
        case 0: checkUserInfo(choices.userInfo())
        case 1: checkSummary(choices.activity())
        case 2: checkActivity(choices.activity())
        default:
            _ = try? RegistrationOptions(choices.activity())
            checkURL(String(decoding: choices.rest(), as: UTF8.self))
        }
    }

    private static func checkUserInfo(_ userInfo: [String: Value]) {
        guard let checked = try? UserInfo(.properties(userInfo)) else { return }
        require(checked.size == MarshalledSize.ofBody(userInfo), "\(checked.size) bytes")
        // This is as deep as it ever gets: in the variant of a property.
        checkSending(["UserInfo": .properties(userInfo)])
    }

    private static func checkSummary(_ summary: [String: Value]) {
        guard let id, let offer = try? OfferSummary.decode(id, summary, now: now) else { return }
        let encoded = OfferSummary.encode(offer)
        checkSending(encoded)
        let again = require("\(encoded) is refused") { try OfferSummary.decode(id, encoded, now: 0) }
        require(again == offer && again.agrees(with: offer), "\(again) was \(offer)")
    }

    private static func checkActivity(_ properties: [String: Value]) {
        var state = ActivityState()
        do throws(HandoffFailure) {
            try state.apply(properties)
        } catch {
            return require(state == ActivityState(), "\(properties) was refused and left something")
        }
        let shared = state.shared
        checkSending(shared)
        require(MarshalledSize.ofBody(shared) <= ActivityState.maximumSize, "the activity is too big")
        var again = ActivityState()
        _ = require("\(shared) is refused") { try again.apply(shared) }
        require(isSame(again.shared, shared), "\(again.shared) was \(shared)")
        checkFetched(properties, state)
    }

    private static func checkFetched(_ properties: [String: Value], _ state: ActivityState) {
        guard let id, let offer = try? OfferSummary.summarise(id, properties, state, since: now),
            let (activity, summary, _) = try? FetchedActivity.check(properties, offer)
        else { return }
        require(summary.offer == offer && offer.agrees(with: summary.offer), "\(summary) was \(offer)")
        require(
            activity["DocumentURL"] == nil && activity["Delegate"] == nil, "\(activity) names what is here")
        checkSending(activity)
    }

    private static func checkURL(_ text: String) {
        if let host = try? ActivityURL.checkWeb(text, "WebpageURL") {
            require(!host.isEmpty && host.utf8.allSatisfy { $0 < 0x80 }, "“\(text)” has the host “\(host)”")
        }
        if (try? ActivityURL.checkDocument(text)) != nil {
            _ = ActivityURL.documentType(text, FileNameTypes())
        }
    }

    // MARK: Sending

    /// Checks that whatever the rules allow can be sent.
    private static func checkSending(_ properties: [String: Value]) {
        let value = Value.properties(properties)
        let bytes = require("what was accepted cannot be sent") { try Coding.encode([value]) }
        Coding.check(bytes, are: [value])
    }

    /// Compares bytes, since NaN does not equal itself.
    private static func isSame(_ left: [String: Value], _ right: [String: Value]) -> Bool {
        (try? Coding.encode([.properties(left)])) == (try? Coding.encode([.properties(right)]))
    }
}

extension Choices {
    private static let keys = [
        "ActivityType", "ApplicationId", "Team", "Title", "UserInfo", "RequiredUserInfoKeys", "WebpageURL",
        "WebpageHost", "DocumentURL", "DocumentType", "ReferrerURL", "TargetContentIdentifier",
        "PersistentIdentifier", "Keywords", "ExpirationDate", "EligibleForHandoff", "EligibleForSearch",
        "SupportsContinuationStreams", "NeedsSave", "Delegate", "Revision", "Since", "Domains",
        "DocumentTypes",
    ]

    /// A dictionary of the properties of an activity and others, mostly of the right types.
    fileprivate mutating func activity() -> [String: Value] {
        properties(keys: Self.keys) { $1.likelyValue(of: $0) }
    }

    private mutating func likelyValue(of key: String) -> Value {
        switch key {
        case "ActivityType", "ApplicationId", "Team": .string("a." + text(atMost: 7))
        case "WebpageURL", "ReferrerURL": .string("http://" + text(atMost: 15))
        case "DocumentURL": .string("file:///" + text(atMost: 15))
        case "UserInfo": .properties(userInfo())
        case "RequiredUserInfoKeys", "Keywords", "Domains":
            .strings((0..<below(4)).map { _ in text(atMost: 7) })
        case "EligibleForHandoff", "EligibleForSearch", "SupportsContinuationStreams", "NeedsSave":
            .boolean(byte() & 1 == 1)
        case "ExpirationDate", "Since": .int64(integer())
        case "Revision": .uint64(integer())
        case "Delegate": .objectPath((try? ObjectPath("/" + text(atMost: 7))) ?? .root)
        case "DocumentTypes":
            (try? .dictionary(key: "s", value: "s", [(.string(text(atMost: 7)), .string(text(atMost: 7)))]))
                ?? value()
        default: .string(text(atMost: 31))
        }
    }

    /// A `UserInfo`: values of any type, including the tagged ones that occur only there.
    fileprivate mutating func userInfo() -> [String: Value] {
        var userInfo = properties()
        for _ in 0..<below(4) where !isAtEnd { userInfo[text(atMost: 7)] = taggedValue(depth: 30) }
        return userInfo
    }

    private mutating func taggedValue(depth: Int) -> Value {
        let content: Value =
            switch below(5) {
            case 0: .int64(integer())
            case 1: .string(text(atMost: 7))
            case 2: .boolean(byte() & 1 == 1)
            case 3 where depth > 0: set(of: (0..<below(3)).map { _ in taggedValue(depth: depth - 1) })
            default: value(depth: depth)
            }
        let tag = one(of: ["date", "url", "set", "null", "other"])
        return (try? .structure([.string(tag), .variant(content)])) ?? content
    }

    private func set(of values: [Value]) -> Value {
        (try? .array(of: "v", values.map { .variant($0) })) ?? .variant(.boolean(false))
    }
}
