// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import HandoffClient

/// What `handoff receive` prints about an activity: one JSON object.
struct ReceivedActivity {
    private let activity: [String: Value]
    private let context: [String: Value]

    /// The arguments of `ContinueActivity`.
    init(_ activity: [String: Value], _ context: [String: Value]) {
        self.activity = activity
        self.context = context
    }

    var json: JSON {
        var members: [JSON.Member] = [
            .init(name: "event", value: "received"),
            .init(name: "deviceId", value: .string(context.text("DeviceId"))),
            .init(name: "deviceName", value: .string(context.text("DeviceName"))),
            .init(name: "activityType", value: .string(activity.text("ActivityType"))),
            .init(name: "title", value: .string(activity.text("Title"))),
            .init(name: "applicationId", value: .string(activity.text("ApplicationId"))),
        ]
        members += userInfo
        for (name, value) in activity.sorted(by: { $0.key < $1.key }) where !Self.named.contains(name) {
            members.append(.init(name: Self.lowerCamelCase(name), value: JSON(value)))
            if name == "DocumentURL", let documentPath {
                members.append(.init(name: "documentPath", value: .string(documentPath)))
            }
        }
        return .object(members)
    }

    private static let named: Set<String> = ["ActivityType", "Title", "ApplicationId", "UserInfo"]

    /// `UserInfo` as plain JSON, which loses the types, the type of each entry, and the whole as text that
    /// loses nothing.
    private var userInfo: [JSON.Member] {
        let userInfo = activity["UserInfo"]?.properties ?? [:]
        let entries = userInfo.sorted { $0.key < $1.key }
        return [
            .init(
                name: "userInfo", value: .object(entries.map { .init(name: $0.key, value: JSON($0.value)) })),
            .init(
                name: "userInfoTypes",
                value: .object(entries.map { .init(name: $0.key, value: .string($0.value.typeSignature)) })),
            .init(name: "userInfoText", value: .string(VariantText.text(of: .properties(userInfo)))),
        ]
    }

    /// Where the document is; nil if there is none.
    var documentPath: String? {
        guard let url = activity["DocumentURL"]?.string, let path = g_filename_from_uri(url, nil, nil) else {
            return nil
        }
        defer { g_free(path) }
        return String(cString: path)
    }

    private static func lowerCamelCase(_ name: String) -> String {
        name.prefix(1).lowercased() + name.dropFirst()
    }
}
