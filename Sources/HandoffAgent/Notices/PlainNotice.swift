// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces

/// The arguments of `Notify` (Desktop Notifications Specification) for a notification.
struct PlainNotice: Sendable {
    /// What is said when the notification is pressed elsewhere than on a button.
    static let defaultKey = "default"

    /// Those of a server's `abilities` that anything depends on. A server names a dozen; what stands after many more is not
    /// looked at.
    static func used(_ abilities: [String]) -> Set<String> {
        Set(abilities.prefix(256)).intersection(["actions", "body-markup"])
    }

    let replaced: UInt32
    let icon: String
    let title: String
    let body: String
    let actions: [String]
    let hints: [String: Value]
    /// In milliseconds; −1 leaves it to the server, 0 is for ever.
    let timeout: Int32

    /// The arguments for `post`, in place of the notification `replaced`, 0 for none, for a server that can do what
    /// `abilities` say.
    init(_ post: NoticePost, replacing replaced: UInt32, _ abilities: Set<String>) {
        let notice = post.notice
        self.replaced = replaced
        icon = Self.icon(post.icon)
        title = notice.title
        let lines = abilities.contains("body-markup") ? notice.lines.map(Self.escaped) : notice.lines
        body = lines.joined(separator: "\n")
        actions = abilities.contains("actions") ? Self.actions(of: post) : []
        hints = Self.hints(of: post)
        timeout = notice.weight == .urgent || notice.percentage != nil ? 0 : -1
    }

    /// Appends the arguments.
    func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.write("Handoff")
        try writer.write(replaced)
        try writer.write(icon)
        try writer.write(title)
        try writer.write(body)
        try writer.write(actions)
        try writer.write(hints)
        try writer.write(timeout)
    }

    /// What is pressed in `post` by who says `key`; nil for what is not, or no longer, there.
    static func press(_ key: String, in post: NoticePost) -> NoticePress? {
        if key == defaultKey { return post.notice.press }
        return post.notice.buttons.first { Self.key(of: $0.press, in: post) == key }?.press
    }

    /// Some servers make a button of what happens elsewhere too, if it has a label.
    private static func actions(of post: NoticePost) -> [String] {
        (post.notice.press == nil ? [] : [defaultKey, ""])
            + post.notice.buttons.flatMap { button in
                key(of: button.press, in: post).map { [$0, button.label] } ?? []
            }
    }

    /// The name of a button. It is that of no button of another notification, which may come in place of this one.
    private static func key(of press: NoticePress, in post: NoticePost) -> String? {
        post.words[press].map { "\(press.action).\($0)" }
    }

    private static func hints(of post: NoticePost) -> [String: Value] {
        let notice = post.notice
        var hints: [String: Value] = [
            "desktop-entry": .string(HandoffNames.agentApplication.text),
            "urgency": .byte(urgency(of: notice)),
        ]
        if notice.weight == .quiet { hints["transient"] = .boolean(true) }
        if let percentage = notice.percentage { hints["value"] = .int32(Int32(clamping: percentage)) }
        if post.isUpdate || notice.weight == .quiet { hints["suppress-sound"] = .boolean(true) }
        return hints
    }

    private static func urgency(of notice: Notice) -> UInt8 {
        switch notice.weight {
        case .quiet: 0
        case .normal: 1
        case .urgent: 2
        }
    }

    private static func icon(_ icon: ApplicationLook.Icon) -> String {
        switch icon {
        case .named(let name): name
        case .file(let path): FileURL.text(Array(path.utf8)) ?? ""
        }
    }

    /// `text` with everything replaced that could begin markup.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
