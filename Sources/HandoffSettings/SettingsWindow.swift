// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import CGTK
import GTKObjects
import GTKSupport
import HandoffInterfaces
import HandoffSettingsModel
import HandoffStatus
import Platform

/// The Handoff window: it shows what the daemons say, and asks them for what the user wants.
@MainActor
final class SettingsWindow {
    /// The window itself.
    let window: GTKObject
    /// The applications that are installed.
    let applications: InstalledApplications
    /// Called once the window is gone.
    var onClose: (() -> Void)?
    /// What is visible.
    private(set) var content: WindowContent?

    private let session: SettingsSession
    private let commands: Commands
    private let toasts: GTKObject
    private let stack: GTKObject
    private let bars: RowList<BarRow>
    private let continueView: ContinueView
    /// The other pages are made when they are first looked at, so that the window opens soon.
    private var devicesView: DevicesView?
    private var activityView: ActivityView?
    private var preferencesView: PreferencesView?
    private let template: Template
    private let actor = WindowActor()
    private let views: ViewsInFront
    private var state = WindowState()
    private var pairing: PairingDialog?
    private var everything: EverythingDialog?
    /// Whether what the time changes is looked at again in a minute.
    private var isTicking = false
    private var isClosed = false

    /// A window of `application`.
    init(_ application: GTKObject, _ session: SettingsSession, _ applications: InstalledApplications) {
        template = Template(Templates.window)
        self.session = session
        self.applications = applications
        views = ViewsInFront(application)
        window = template["window"]
        toasts = template["toasts"]
        stack = template["stack"]
        commands = Commands("handoff", in: window)
        bars = RowList(template["bars"]) { [actor] _ in BarRow(actor) }
        continueView = ContinueView(template, applications, actor)
        actor.window = self
        gtk_window_set_application(window.pointer, application.pointer)
        addCommands()
        connect()
        render()
    }

    /// Brings it to the front.
    func present() { gtk_window_present(window.pointer) }

    /// Closes it, as its user does.
    func close() { gtk_window_close(window.pointer) }

    // MARK: What is visible

    /// The daemons say something else.
    func take(_ report: StatusReport) {
        state.take(report)
        pairing?.take(report)
        everything?.take(report)
        render()
    }

    /// Other adapters are installed.
    func take(_ adapters: [Adapter]) {
        state.take(adapters)
        render()
    }

    /// GNOME's extension is on or off, or there is none.
    func take(shellExtension isOn: Bool?) {
        state.shellExtension = isOn
        render()
    }

    /// Shows what there is, without touching what is the same as before.
    func render() {
        let new = WindowContent(state, at: Int64(g_get_real_time()), applications.names)
        let former = content
        content = new
        bars.set(new.bars)
        if former?.continuing != new.continuing { continueView.show(new.continuing) }
        if former?.devices != new.devices {
            devicesView?.show(new.devices)
            template["devices_page"][flag: "needs-attention"] = new.devices.asks
        }
        if former?.preferences != new.preferences { preferencesView?.show(new.preferences) }
        if former?.activity != new.activity { activityView?.show(new.activity) }
        everything?.render()
        applications.settle()
    }

    /// Another page is looked at.
    private func pageChanged() {
        guard let content else { return }
        switch stack[text: "visible-child-name"] {
        case "devices" where devicesView == nil:
            let page = makePage("devices", Templates.devices)
            let view = DevicesView(page, actor)
            devicesView = view
            view.show(content.devices)
        case "activity" where activityView == nil:
            let page = makePage("activity", Templates.activity)
            let view = ActivityView(page, applications)
            activityView = view
            view.show(content.activity)
        case "preferences" where preferencesView == nil:
            let page = makePage("preferences", Templates.preferences)
            let view = PreferencesView(page, actor)
            preferencesView = view
            view.show(content.preferences)
        default: break
        }
    }

    /// Puts the page of this name into its place, and returns what it is made from.
    private func makePage(_ name: String, _ xml: String) -> Template {
        let page = Template(xml)
        template["\(name)_bin"][object: "child"] = page["\(name)_stack"]
        return page
    }

    /// Shows the page of this name.
    func showPage(_ name: String) { stack[text: "visible-child-name"] = name }

    /// Shows a short message.
    func toast(_ text: String) {
        // The overlay takes over the reference that the toast begins with.
        adw_toast_overlay_add_toast(toasts.pointer, adw_toast_new(Markup.escaped(text)))
    }

    /// Shows what is at `address`, in the program that people have for such.
    func open(_ address: String) { g_app_info_launch_default_for_uri_async(address, nil, nil, nil, nil) }

    /// Tells why something was not done.
    func tell(_ heading: String, _ reason: String) {
        MessageDialog(heading, reason, [.init("close", tr("_Close"))]).ask(over: window) { _ in }
    }

    // MARK: What the user does

    /// Asks for `request`; says under `heading` why it was not done, if so, and calls `refused`.
    func perform(
        _ request: Request, orTell heading: String, _ refused: @escaping @MainActor () -> Void = {}
    ) {
        session.perform(request) { [weak self] outcome in
            guard let self, !isClosed, case .failed(_, let message) = outcome else { return }
            refused()
            tell(heading, message)
        }
    }

    /// Does what the user has answered; says why it was not done, if so.
    func perform(_ answer: QuestionRow.Answer) { perform(answer.request, orTell: answer.refusal) }

    /// Writes a preference. If it is refused, what it is stays shown.
    func write(_ request: Request) {
        session.perform(request) { [weak self] outcome in
            guard let self, !isClosed, case .failed(_, let message) = outcome, let content else { return }
            devicesView?.show(content.devices)
            preferencesView?.show(content.preferences)
            tell(tr("This Cannot Be Changed"), message)
        }
    }

    /// Continues an offer in `application`, or the best one.
    func continueOffer(_ card: OfferCard, in application: String?) {
        let best = application ?? card.handlers.first?.id
        let token = applications.activationToken(for: best, from: window)
        guard let request = state.continueOffer(at: card.path, in: application, token: token) else { return }
        render()
        session.perform(request) { [weak self] outcome in
            guard let self, !isClosed else { return }
            if let message = state.finish(card.path, outcome) { tell(tr("Not Continued"), message) }
            if case .told(let note) = outcome { tell(tr("There Are Two Versions Now"), note) }
            render()
        }
    }

    /// Sends what is current here to the device of this id.
    func send(to device: String) {
        let request = state.send(to: device)
        render()
        session.perform(request) { [weak self] outcome in
            guard let self, !isClosed else { return }
            state.finishSending(to: device, outcome)
            if outcome == .done { toast(tr("Sent")) }
            render()
        }
    }

    /// Shows no more why the device has not got what was sent.
    func forgetSending(to device: String) {
        state.forgetSending(to: device)
        render()
    }

    /// Opens the dialog for pairing, with this choice made if there is one.
    func pair(_ choice: NearbyRow.Way? = nil) {
        if let pairing { return pairing.begin(choice) }
        let dialog = PairingDialog(over: self, session, views, state.report, choice)
        dialog.onClose = { [weak self] in self?.pairing = nil }
        pairing = dialog
    }

    /// Opens the dialog with what is open at the device of this id, or brings it to the front.
    func showEverything(of device: String) {
        if let everything, everything.device == device { return everything.present() }
        everything?.close()
        let dialog = EverythingDialog(over: self, session, views, device)
        dialog.onClose = { [weak self, weak dialog] in
            if let self, everything === dialog { everything = nil }
        }
        everything = dialog
        if let report = state.report { dialog.take(report) }
        render()
    }

    /// Asks for an address, and connects to it.
    func connectToAddress() {
        let dialog = EntryDialog(
            tr("Connect to a Device"),
            tr("Where the device is, for example laptop.local:43210. Its port is shown there under “Pair…”."),
            entry: tr("Address, HOST:PORT"), accept: tr("_Connect"))
        dialog.ask(over: window) { [weak self] address in
            self?.perform(.connect([address]), orTell: tr("Not Connected"))
        }
    }

    private func addCommands() {
        for name in ["continue", "devices", "activity", "preferences"] {
            commands.add(name) { [weak self] in self?.showPage(name) }
        }
        commands.add("pair") { [weak self] in
            guard let self, content?.devices.isAvailable == true else { return }
            pair()
        }
        commands.add("shortcuts") { [weak self] in self?.showShortcuts() }
        commands.add("about") { [weak self] in self?.showAbout() }
        commands.add("close") { [weak self] in self?.close() }
    }

    private func showShortcuts() {
        let shortcuts = Template(Templates.shortcuts)["shortcuts"]
        gtk_window_set_transient_for(shortcuts.pointer, window.pointer)
        gtk_window_present(shortcuts.pointer)
    }

    private func showAbout() {
        let about = GTKObject(adw_about_window_new())
        about[text: "application-name"] = tr("Handoff")
        about[text: "application-icon"] = SettingsApplication.icon
        about[text: "developer-name"] = Vendor.developer
        about[text: "version"] = Release.version
        if !Vendor.homepage.isEmpty { about[text: "website"] = Vendor.homepage }
        if !Vendor.bugtracker.isEmpty { about[text: "issue-url"] = Vendor.bugtracker }
        about[flag: "modal"] = true
        gtk_window_set_transient_for(about.pointer, window.pointer)
        gtk_window_present(about.pointer)
    }

    // MARK: What happens

    private func connect() {
        applications.onChange = { [weak self] in self?.render() }
        stack.on("notify::visible-child") { [weak self] in
            self?.pageChanged()
            self?.viewChanged()
        }
        window.on("notify::is-active") { [weak self] in self?.activeChanged() }
        window.answer("close-request") { [weak self] in
            self?.closed()
            return false
        }
    }

    /// Nothing is left behind that the user cannot see any more.
    private func closed() {
        isClosed = true
        for name in [HandoffNames.offersInView, HandoffNames.devicesInView] { views.set(name, isSeen: false) }
        pairing?.end()
        everything?.end()
        onClose?()
    }

    /// While the user looks at it, ages grow; otherwise nothing wakes.
    private func activeChanged() {
        viewChanged()
        guard gtk_window_is_active(window.pointer) != 0 else { return }
        render()
        tick()
    }

    /// Whether the page on which people continue is the one that is shown.
    var isAtContinue: Bool { stack[text: "visible-child-name"] == "continue" }

    private func viewChanged() {
        let isActive = gtk_window_is_active(window.pointer) != 0
        views.set(HandoffNames.offersInView, isSeen: isActive && isAtContinue)
        let isAtDevices = stack[text: "visible-child-name"] == "devices"
        views.set(HandoffNames.devicesInView, isSeen: isActive && isAtDevices)
    }

    private func tick() {
        guard !isTicking else { return }
        isTicking = true
        Later.call(afterMilliseconds: 60_000) { [weak self] in
            guard let self, !isClosed else { return }
            isTicking = false
            if gtk_window_is_active(window.pointer) != 0 { activeChanged() }
        }
    }
}

/// Where the views of a window find it.
@MainActor
final class WindowActor {
    /// The window, while it is there.
    weak var window: SettingsWindow?
}
