// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffSettingsModel
import Platform

/// The page that has the devices.
@MainActor
final class DevicesView {
    private let stack, askingGroup, introducedGroup, nearbyGroup, noPeers: GTKObject
    private let name: NameEntry
    private let asking: RowList<AskingRowView>
    private let introduced, retracted: RowList<QuestionRowView>
    private let peers: RowList<DeviceRowView>
    private let nearby: RowList<NearbyRowView>

    /// The page in `template`.
    init(_ template: Template, _ actor: WindowActor) {
        stack = template["devices_stack"]
        (askingGroup, nearbyGroup) = (template["asking_group"], template["nearby_group"])
        (introducedGroup, noPeers) = (template["introduced_group"], template["no_peers"])
        name = NameEntry(template["device_name"], actor)
        asking = RowList(template["asking"]) { _ in AskingRowView { actor.window?.pair(.device($0)) } }
        introduced = RowList(template["introduced"]) { _ in QuestionRowView { actor.window?.perform($0) } }
        retracted = RowList(template["retracted"]) { _ in QuestionRowView { actor.window?.perform($0) } }
        peers = RowList(template["peers"]) { _ in DeviceRowView(actor) }
        nearby = RowList(template["nearby"]) { _ in
            NearbyRowView { row in
                actor.window?.pair(row.way)
            }
        }
        template["pair_button"].on("clicked") { actor.window?.pair() }
    }

    /// Shows `page`.
    func show(_ content: DevicesPage) {
        stack[text: "visible-child-name"] = content.isAvailable ? "devices" : "stopped"
        asking.set(content.asking)
        introduced.set(content.introduced)
        retracted.set(content.retracted)
        peers.set(content.peers)
        nearby.set(content.nearby)
        askingGroup[flag: "visible"] = !content.asking.isEmpty
        introducedGroup[flag: "visible"] = !content.introduced.isEmpty
        nearbyGroup[flag: "visible"] = !content.nearby.isEmpty
        noPeers[flag: "visible"] = content.peers.isEmpty
        if content.isAvailable { name.show(content.deviceName) }
    }
}

/// Where the user changes what this device is called.
@MainActor
final class NameEntry {
    private let entry: GTKObject
    private let actor: WindowActor
    private var typed = TypedName()

    /// What is typed into `entry` becomes the name.
    init(_ entry: GTKObject, _ actor: WindowActor) {
        (self.entry, self.actor) = (entry, actor)
        entry.on("apply") { [weak self] in
            guard let self else { return }
            let text = self.entry[text: "text"]
            typed.choose(text)
            let name = text.trimmed
            actor.window?.write(DevicesPage.setName(name))
        }
    }

    /// Shows `name`, unless the user is typing another.
    func show(_ name: String) {
        let text = typed.show(name, over: entry[text: "text"], hasKeyboard: hasKeyboard)
        if let text { entry[text: "text"] = text }
    }

    /// Whether it has the keyboard when its window has it.
    private var hasKeyboard: Bool {
        guard let window = actor.window, let focus = gtk_window_get_focus(window.window.pointer) else {
            return false
        }
        return gtk_widget_is_ancestor(focus, entry.pointer) != 0
    }
}

extension String {
    /// The text without white space at its ends.
    var trimmed: String {
        let rest = drop { $0.isWhitespace }
        return String(rest.prefix(rest.count - rest.reversed().prefix { $0.isWhitespace }.count))
    }
}

/// A paired device.
@MainActor
final class DeviceRowView: ContentRow {
    let widget: GTKObject
    private let picture, everything, address, problem, connect, muted, unpair: GTKObject
    private let actor: WindowActor
    private var content: DeviceRow?
    private var isShowing = false

    /// A row of the window of `actor`.
    init(_ actor: WindowActor) {
        let template = Template(Templates.device)
        (widget, picture, address) = (template["row"], template["picture"], template["address"])
        (problem, connect) = (template["problem"], template["connect"])
        (muted, unpair) = (template["muted"], template["unpair"])
        everything = template["everything"]
        self.actor = actor
        widget[flag: "use-markup"] = false
        everything.on("clicked") { [weak self] in
            if let content = self?.content { actor.window?.showEverything(of: content.id) }
        }
        connect.on("clicked") { actor.window?.connectToAddress() }
        muted.on("notify::active") { [weak self] in self?.mutedChanged() }
        unpair.on("clicked") { [weak self] in self?.askToUnpair() }
    }

    func show(_ content: DeviceRow) {
        isShowing = true
        defer { isShowing = false }
        self.content = content
        widget[text: "title"] = content.name
        widget[text: "subtitle"] = content.standing
        gtk_image_set_from_icon_name(picture.pointer, content.picture)
        address[flag: "visible"] = !content.address.isEmpty
        address[text: "subtitle"] = content.address
        problem[flag: "visible"] = !content.isConnected && !content.awaitsAcceptance
        problem[text: "subtitle"] =
            content.problem.isEmpty
            ? tr("Is it on, in the same network, and Handoff switched on there?") : content.problem
        muted[flag: "active"] = content.isMuted
        let name = content.name
        everything[flag: "visible"] = content.canList
        everything.describe(name)
        muted.name(tr("Mute"))
        muted.describe(name)
        unpair.describe(name)
        connect.describe(name)
    }

    private func mutedChanged() {
        guard !isShowing, let content else { return }
        let isMuted = muted[flag: "active"]
        actor.window?.perform(.setMuted(content.id, isMuted), orTell: tr("Not Changed")) { [weak self] in
            if let self, let content = self.content { show(content) }
        }
    }

    private func askToUnpair() {
        guard let content, let window = actor.window else { return }
        let question = MessageDialog(
            tr("Unpair This Device?"),
            tr(
                "Nothing can be continued between the two any more, until they are paired again. The device:\n\n{device}",
                ["device": content.name]),
            [.init("cancel", tr("_Cancel")), .init("unpair", tr("_Unpair"), .destructive)])
        question.ask(over: window.window) { [weak self] answer in
            guard answer == "unpair" else { return }
            self?.actor.window?.perform(.unpair(content.id), orTell: tr("Not Unpaired"))
        }
    }
}

/// A device that asks to be paired.
@MainActor
final class AskingRowView: ContentRow {
    let widget: GTKObject
    private let picture: GTKObject
    private let button: GTKObject
    private var content: AskingRow?

    /// A row whose button calls `pair` with the device's id.
    init(_ pair: @escaping @MainActor (String) -> Void) {
        let template = Template(Templates.found)
        (widget, picture, button) = (template["row"], template["picture"], template["button"])
        widget[number: "title-lines"] = 2
        button.on("clicked") { [weak self] in if let content = self?.content { pair(content.id) } }
    }

    func show(_ content: AskingRow) {
        self.content = content
        widget[text: "title"] = content.name
        widget[text: "subtitle"] = tr("Its id begins with {id}", ["id": content.shortID])
        gtk_image_set_from_icon_name(picture.pointer, content.picture)
        button.describe(content.name)
    }
}

/// What a peer says of another device, with what the user can make of it.
@MainActor
final class QuestionRowView: ContentRow {
    let widget: GTKObject
    private let picture, agree, refuse: GTKObject
    private var content: QuestionRow?

    /// A row whose buttons call `answer`.
    init(_ answer: @escaping @MainActor (QuestionRow.Answer) -> Void) {
        let template = Template(Templates.question)
        (widget, picture) = (template["row"], template["picture"])
        (agree, refuse) = (template["agree"], template["refuse"])
        agree.on("clicked") { [weak self] in if let content = self?.content { answer(content.agree) } }
        refuse.on("clicked") { [weak self] in if let content = self?.content { answer(content.refuse) } }
    }

    func show(_ content: QuestionRow) {
        self.content = content
        widget[text: "title"] = content.name
        widget[text: "subtitle"] = content.says
        gtk_image_set_from_icon_name(picture.pointer, content.picture)
        for (button, answer) in [(agree, content.agree), (refuse, content.refuse)] {
            button[text: "label"] = answer.label
            button.describe(content.name)
        }
    }
}

/// A device that can be found and is not paired.
@MainActor
final class NearbyRowView: ContentRow {
    let widget: GTKObject
    private let button: GTKObject
    private var content: NearbyRow?

    /// A row whose button calls `pair`.
    init(_ pair: @escaping @MainActor (NearbyRow) -> Void) {
        let template = Template(Templates.found)
        (widget, button) = (template["row"], template["button"])
        button.on("clicked") { [weak self] in if let content = self?.content { pair(content) } }
    }

    func show(_ content: NearbyRow) {
        self.content = content
        widget[text: "title"] = content.name
        widget[text: "subtitle"] = content.address
        button.describe(content.name)
    }
}
