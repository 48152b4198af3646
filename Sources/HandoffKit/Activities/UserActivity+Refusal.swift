// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

extension UserActivity {
    /// What a property is called here, and how it gets its value back.
    private struct Property {
        let name: String
        let restore: @MainActor (UserActivity, ActivityContent) -> Void
    }

    /// The properties by their names in `org.example.Handoff.Activity`.
    private static let properties: [String: Property] = [
        "Title": Property(name: "title") { $0.restore(\.title, \.title, $1) },
        "UserInfo": Property(name: "userInfo") { $0.restoreUserInfo($1) },
        "RequiredUserInfoKeys": Property(name: "requiredUserInfoKeys") {
            $0.restore(\.requiredUserInfoKeys, \.requiredUserInfoKeys, $1)
        },
        "WebpageURL": Property(name: "webpageURL") { $0.restore(\.webpageURL, \.webpageURL, $1) },
        "DocumentURL": Property(name: "documentURL") { $0.restore(\.documentURL, \.documentURL, $1) },
        "ReferrerURL": Property(name: "referrerURL") { $0.restore(\.referrerURL, \.referrerURL, $1) },
        "Keywords": Property(name: "keywords") { $0.restore(\.keywords, \.keywords, $1) },
        "ExpirationDate": Property(name: "expirationDate") {
            $0.restore(\.expirationDate, \.expirationDate, $1)
        },
        "TargetContentIdentifier": Property(name: "targetContentIdentifier") {
            $0.restore(\.targetContentIdentifier, \.targetContentIdentifier, $1)
        },
        "PersistentIdentifier": Property(name: "persistentIdentifier") {
            $0.restore(\.persistentIdentifier, \.persistentIdentifier, $1)
        },
        "EligibleForHandoff": Property(name: "isEligibleForHandoff") {
            $0.restore(\.isEligibleForHandoff, \.isEligibleForHandoff, $1)
        },
        "EligibleForSearch": Property(name: "isEligibleForSearch") {
            $0.restore(\.isEligibleForSearch, \.isEligibleForSearch, $1)
        },
        "SupportsContinuationStreams": Property(name: "supportsContinuationStreams") {
            $0.restore(\.supportsContinuationStreams, \.supportsContinuationStreams, $1)
        },
    ]

    /// What the property is called here that is called `name` in `org.example.Handoff.Activity`.
    static func propertyName(_ name: String) -> String? {
        name == "NeedsSave" ? "needsSave" : properties[name]?.name
    }

    /// The broker has refused something; what it has `restored` has these values there again, nil for none.
    func refused(_ error: HandoffError, restored: [String: Value?]) {
        // What was set again since is newer, and on its way.
        let due = restored.filter { pending[$0.key] == nil }
        if !due.isEmpty, let former = try? content.with(due) {
            for name in due.keys.sorted() { Self.properties[name]?.restore(self, former) }
        }
        refused(error.about(Array(restored.keys)))
    }

    /// While a save puts a new state together it is the one from before that is restored.
    private func restoreUserInfo(_ former: ActivityContent) {
        if let saving {
            saving.former.userInfo = former.userInfo
            saving.former.payloadKeys = storedPayloadKeys.all.intersection(former.userInfo.keys)
        } else {
            restore(\.userInfo, \.userInfo, former)
            payloadKeys = storedPayloadKeys.all.intersection(former.userInfo.keys)
        }
    }
}
