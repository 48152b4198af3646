// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Notifications of GNOME and its relatives (`org.gtk.Notifications`): they belong to an application, which is called, and
/// started if need be, with what lets it raise a window.
@MainLoop
final class DesktopNotices: NoticeServer {
    private static let name: BusName = "org.gtk.Notifications"
    private static let path: ObjectPath = "/org/gtk/Notifications"
    private static let interface: InterfaceName = "org.gtk.Notifications"
    /// How long it may take to answer.
    private static let patience = Duration.seconds(5)

    weak var owner: (any NoticeServerOwner)?
    private let bus: Bus
    private var watch: OwnerWatch?
    private var name: BusName?
    /// The places that an agent of before may have left something in, even if it has written down nothing.
    private static let leftSlots: [NoticeSlot] = [
        .arrival, .continued, .continuedAll, .sending, .pasting, .versions, .window, .welcome,
    ]
    private let left = LeftPlaces()
    /// Whether it has refused one, as it does if it does not know the agent's desktop entry.
    private var hasRefused = false

    /// The one on `bus`.
    init(_ bus: Bus) {
        self.bus = bus
        watch = OwnerWatch(bus, Self.name, log: agentLog) { [weak self] in self?.ownerChanged($0) }
    }

    var isThere: Bool { name != nil && !hasRefused }
    var tellsOfClosing: Bool { false }

    private func ownerChanged(_ new: BusName?) {
        let wasThere = isThere
        (name, hasRefused) = (new, false)
        // An agent that was killed may have left something, which nobody would answer for.
        for slot in Self.leftSlots { withdraw(slot) }
        if name != nil { for id in left.take() { remove(id) } }
        owner?.availabilityChanged()
        if wasThere, new != nil { owner?.replaced(self) }
    }

    func show(_ post: NoticePost) {
        guard let name else { return }
        left.note(post.notice.slot.id, isShown: true)
        let server = RemoteObject(bus.connection, name, Self.path)
        MainLoop.start { [weak self] in
            do {
                _ = try await server.call(
                    Self.interface, "AddNotification", output: "", timeout: Self.patience
                ) { (writer) throws(DBusError) in
                    try writer.write(HandoffNames.agentApplication.text)
                    try writer.write(post.notice.slot.id)
                    try writer.write(Self.properties(of: post))
                }
            } catch {
                self?.refused(name, DBusError.converting(error))
            }
        }
    }

    private func refused(_ server: BusName, _ error: DBusError) {
        // One that does not answer may still show it.
        guard server == name, !hasRefused, error.name != .noReply else { return }
        agentLog.info("\(Self.name) shows no notifications of the agent: \(error.message)")
        hasRefused = true
        owner?.availabilityChanged()
    }

    func withdraw(_ slot: NoticeSlot) {
        remove(slot.id)
        left.note(slot.id, isShown: false)
    }

    /// What is taken back is so even if it is still on its way, behind which this comes.
    func settle() async {}

    private func remove(_ id: String) {
        guard let name else { return }
        try? RemoteObject(bus.connection, name, Self.path).post(Self.interface, "RemoveNotification") {
            (writer) throws(DBusError) in
            try writer.write(HandoffNames.agentApplication.text)
            try writer.write(id)
        }
    }

    // MARK: What is sent

    /// The notification as `AddNotification` takes it (GNotification, serialized).
    nonisolated static func properties(of post: NoticePost) throws(DBusError) -> [String: Value] {
        let notice = post.notice
        var properties: [String: Value] = [
            "title": .string(notice.title), "body": .string(notice.lines.joined(separator: "\n")),
            "icon": try icon(post.icon), "priority": .string(priority(of: post)),
        ]
        if let press = notice.press, let word = post.words[press] {
            properties["default-action"] = .string("app." + press.action)
            properties["default-action-target"] = .string(word)
        }
        let buttons = notice.buttons.compactMap { button -> Value? in
            guard let word = post.words[button.press] else { return nil }
            return .properties([
                "label": .string(button.label), "action": .string("app." + button.press.action),
                "target": .string(word),
            ])
        }
        if !buttons.isEmpty { properties["buttons"] = try .array(of: "a{sv}", buttons) }
        return properties
    }

    /// What only says something new about what was there already does not come to the front once more.
    private nonisolated static func priority(of post: NoticePost) -> String {
        switch post.notice.weight {
        case .quiet: "low"
        case .normal: post.isUpdate ? "low" : "normal"
        case .urgent: "urgent"
        }
    }

    /// A picture as GIcon is serialized.
    private nonisolated static func icon(_ icon: ApplicationLook.Icon) throws(DBusError) -> Value {
        switch icon {
        case .named(let name): try .structure([.string("themed"), .variant(.strings([name]))])
        case .file(let path):
            try .structure([.string("file"), .variant(.string(FileURL.text(Array(path.utf8)) ?? ""))])
        }
    }
}
