// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import CGTK
import GTKObjects
import GTKSupport
import HandoffCore
import HandoffInterfaces
import HandoffSettingsModel
import HandoffStatus
import Platform

/// The dialog for pairing. While it is open, devices that are not paired can find this one.
@MainActor
final class PairingDialog {
    /// Called once it is closed.
    var onClose: (() -> Void)?

    private let template = Template(Templates.pairing)
    private weak var owner: SettingsWindow?
    private let window, steps: GTKObject
    private let session: SettingsSession
    private let views: ViewsInFront
    private let asking: RowList<AskingRowView>
    private let introduced: RowList<QuestionRowView>
    private let nearby: RowList<NearbyRowView>
    private var flow: PairingFlow
    private var isClosed = false
    /// The attempt to connect that is shown, or was last, and whether it takes long.
    private var connecting: PairingFlow.Step?
    private var isSlow = false
    /// How many milliseconds an attempt to connect may take before it counts as long.
    private static let patience: UInt32 = 5_000
    /// The devices that the user sees to be introduced by the one that was just paired.
    private var seen: [PairingFlow.Other] = []
    /// How many of them are named.
    private static let maximumNames = 5

    /// A dialog in front of `owner`, which knows the devices of `report`. It begins with `choice`.
    init(
        over owner: SettingsWindow, _ session: SettingsSession, _ views: ViewsInFront,
        _ report: StatusReport?, _ choice: NearbyRow.Way?
    ) {
        (self.session, self.views, self.owner) = (session, views, owner)
        (window, steps) = (template["window"], template["steps"])
        flow = PairingFlow(report)
        let dialog = Weak<PairingDialog>()
        asking = RowList(template["asking"]) { _ in
            AskingRowView { id in dialog.value?.change { $0.choose(device: id) } }
        }
        introduced = RowList(template["introduced"]) { _ in
            QuestionRowView { answer in dialog.value?.owner?.perform(answer) }
        }
        nearby = RowList(template["nearby"]) { _ in
            NearbyRowView { row in dialog.value?.choose(row.way) }
        }
        dialog.value = self
        gtk_window_set_transient_for(window.pointer, owner.window.pointer)
        connect()
        for request in flow.beginning { perform(request) }
        // What the user has chosen comes before who asks.
        if let choice { choose(choice) }
        if let report { take(report) } else { render() }
        // There is no other way then.
        template["by_address"][flag: "expanded"] = report?.bridge.content?.discoveryError.isEmpty == false
        gtk_window_present(window.pointer)
    }

    /// Comes to the front, and begins with `choice` unless it is at something already.
    func begin(_ choice: NearbyRow.Way?) {
        gtk_window_present(window.pointer)
        if let choice { choose(choice) }
    }

    /// The daemons say something else.
    func take(_ report: StatusReport) {
        let page = DevicesPage(report, at: 0)
        asking.set(page.asking)
        introduced.set(page.introduced)
        nearby.set(page.nearby)
        template["asking_group"][flag: "visible"] = !page.asking.isEmpty
        template["introduced_group"][flag: "visible"] = !page.introduced.isEmpty
        template["searching"][flag: "visible"] = page.nearby.isEmpty
        template["own_name"][text: "subtitle"] = page.deviceName.shown
        let port = report.bridge.content?.port ?? 0
        template["own_port"][text: "subtitle"] = port == 0 ? tr("None, it does not listen") : "\(port)"
        let isTyping = !template["address"][text: "text"].isEmpty
        change { $0.take(report, isTyping: isTyping) }
    }

    /// The user says of the code that is seen whether it is that of the other device.
    private func answer(_ matches: Bool) {
        let code = template["code"][text: "label"]
        change { $0.answer(code, matches: matches) }
    }

    /// The user wants to pair with all that the device which was just paired introduces.
    private func pairWithAll() {
        for device in seen { owner?.perform(.acceptIntroduction(device.id), orTell: tr("Not Paired")) }
        showDevices()
    }

    /// Closes the dialog. What the other device introduces, and what has become of that, is on the page of the devices.
    private func showDevices() {
        owner?.showPage("devices")
        gtk_window_close(window.pointer)
    }

    private func choose(_ way: NearbyRow.Way) {
        switch way {
        case .device(let id): change { $0.choose(device: id) }
        case .addresses(let addresses): change { $0.choose(addresses: addresses) }
        }
    }

    // MARK: The flow

    private func change(_ body: (inout PairingFlow) -> [Request]) {
        let requests = body(&flow)
        render()
        for request in requests { perform(request) }
    }

    private func perform(_ request: Request) {
        session.perform(request) { [weak self] outcome in
            guard let self, !isClosed else { return }
            change { $0.finish(request, outcome) }
        }
    }

    private func connect() {
        let address = template["address"]
        let take: @MainActor () -> Void = { [weak self] in
            guard let self else { return }
            let text = template["address"][text: "text"].trimmed
            change { $0.choose(addresses: [text]) }
        }
        address.on("apply", take)
        address.on("entry-activated", take)
        template["stop"].on("clicked") { [weak self] in self?.change { $0.restart() } }
        template["again"].on("clicked") { [weak self] in self?.change { $0.restart() } }
        template["matches"].on("clicked") { [weak self] in self?.answer(true) }
        template["differs"].on("clicked") { [weak self] in self?.answer(false) }
        template["pair_all"].on("clicked") { [weak self] in self?.pairWithAll() }
        template["choose"].on("clicked") { [weak self] in self?.showDevices() }
        for button in ["done", "not_now"] {
            template[button].on("clicked") { [weak self] in if let self { gtk_window_close(window.pointer) } }
        }
        window.on("notify::focus-widget") { [weak self] in self?.focusMoved() }
        window.on("notify::is-active") { [weak self] in
            guard let self, !isClosed else { return }
            views.set(HandoffNames.pairingInView, isSeen: gtk_window_is_active(window.pointer) != 0)
        }
        window.answer("close-request") { [weak self] in
            self?.end()
            return false
        }
    }

    /// The Escape key closes the dialog before anything else sees it: a button that a key has pressed keeps all keys to itself
    /// for a quarter of a second. Only where text is typed an input method comes first, which may have something to take back.
    private func focusMoved() {
        let isTyping = window[object: "focus-widget"]?.typeName == "GtkText"
        // GTK_PHASE_BUBBLE and GTK_PHASE_CAPTURE.
        template["escape"][number: "propagation-phase"] = isTyping ? 2 : 1
    }

    /// Ends what is under way, and that other devices can find this one: the dialog is closed, or goes with its window.
    func end() {
        guard !isClosed else { return }
        isClosed = true
        views.set(HandoffNames.pairingInView, isSeen: false)
        for request in flow.end() { session.performToTheEnd(request) }
        onClose?()
    }

    // MARK: What is seen

    private func render() {
        fill()
        let (former, page) = (steps[text: "visible-child-name"], flow.step.page)
        let (hasIntroduced, introduces) = (template["also"][flag: "visible"], !flow.introduced.isEmpty)
        template["also"][flag: "visible"] = introduces
        template["done"][flag: "visible"] = !introduces
        template["spinner"][flag: "spinning"] = page == "waiting"
        template["search_spinner"][flag: "spinning"] = page == "choosing"
        guard page != former || introduces != hasIntroduced else { return }
        steps[text: "visible-child-name"] = page
        // What confirms must not be what the Enter key happens to press; and keys must not go to what is not seen any more.
        if let button = introduces ? "not_now" : flow.step.button {
            gtk_widget_grab_focus(template[button].pointer)
        } else {
            gtk_window_set_focus(window.pointer, nil)
        }
    }

    /// Says on the page of the step what is to be said of it.
    private func fill() {
        switch flow.step {
        case .choosing: connecting = nil
        case .connecting: showConnecting()
        case .waiting:
            showWaiting(
                tr("Waiting for the Other Device"), tr("Choose “Pair…” there too, and agree to this device."))
        case .confirmed(_, let code):
            showWaiting(
                tr("Waiting for the Other Device"),
                tr("Say there too that the digits are {code}.", ["code": code]))
        case .comparing(let other, let code):
            template["code"][text: "label"] = code
            template["other_name"][text: "subtitle"] = other.name
            template["other_id"][text: "subtitle"] = String(other.id.prefix(ShortIDs.minimum))
        case .paired(let other):
            template["paired"][text: "description"] = Markup.escaped(other.name)
            seen = flow.introduced
            let shown = seen.prefix(Self.maximumNames).map { "“\($0.name)”" }
            let names = (shown + (seen.count > shown.count ? ["…"] : [])).joined(separator: ", ")
            template["also_knows"][text: "label"] = tr(
                "“{device}” also knows: {devices}.", ["device": other.name, "devices": names])
        case .failed(let reason): template["failed"][text: "description"] = Markup.escaped(reason)
        }
    }

    /// After a while it says what may keep an answer away.
    private func showConnecting() {
        let step = flow.step
        if connecting != step {
            (connecting, isSlow) = (step, false)
            Later.call(afterMilliseconds: Self.patience) { [weak self] in
                guard let self, !isClosed, connecting == step, flow.step == step else { return }
                isSlow = true
                fill()
            }
        }
        let hint = isSlow ? tr("If this takes long, a firewall of the other device may be in the way.") : ""
        showWaiting(tr("Connecting…"), hint)
    }

    private func showWaiting(_ text: String, _ hint: String) {
        template["waiting_text"][text: "label"] = text
        template["waiting_hint"][text: "label"] = hint
    }
}

extension PairingFlow.Step {
    /// The page of the dialog that shows it.
    fileprivate var page: String {
        switch self {
        case .choosing: "choosing"
        case .connecting, .waiting, .confirmed: "waiting"
        case .comparing: "comparing"
        case .paired: "paired"
        case .failed: "failed"
        }
    }

    /// What has the keyboard first on that page; nil if there is more than one thing to do.
    fileprivate var button: String? {
        switch self {
        case .choosing, .comparing: nil
        case .connecting, .waiting, .confirmed: "stop"
        case .paired: "done"
        case .failed: "again"
        }
    }
}
