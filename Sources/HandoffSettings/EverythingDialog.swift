// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import CGTK
import DBus
import GTKObjects
import GTKSupport
import HandoffInterfaces
import HandoffSettingsModel
import HandoffStatus
import Platform

/// The dialog with what is open at another device, which the user has continued here all at once. Closing it ends nothing.
@MainActor
final class EverythingDialog {
    /// Called once it is closed.
    var onClose: (() -> Void)?
    /// The id of the device.
    var device: String { everything.device }

    private let template = Template(Templates.everything)
    private weak var owner: SettingsWindow?
    private let window, places, bottom, standing: GTKObject
    private let begin, cancel, again, refresh: GTKObject
    private let session: SettingsSession
    private let views: ViewsInFront
    private let rows: RowList<OpenRowView>
    private var everything: Everything
    private var shown: EverythingPage?
    /// Whether a list that gets too old is looked at again.
    private var isTicking = false
    private var isClosed = false

    /// A dialog in front of `owner`, for the device of this id, which is asked once the daemons have said something.
    init(over owner: SettingsWindow, _ session: SettingsSession, _ views: ViewsInFront, _ device: String) {
        (self.session, self.views, self.owner) = (session, views, owner)
        everything = Everything(device)
        (window, places, bottom) = (template["window"], template["places"], template["bottom"])
        (begin, cancel, again) = (template["begin"], template["cancel"], template["again"])
        (standing, refresh) = (template["standing"], template["refresh"])
        let (dialog, applications) = (Weak<EverythingDialog>(), owner.applications)
        rows = RowList(template["rows"]) { _ in
            OpenRowView(applications) { path, isWanted in dialog.value?.tick(path, isWanted) }
        }
        dialog.value = self
        gtk_window_set_transient_for(window.pointer, owner.window.pointer)
        connect()
        render()
        present()
    }

    /// Brings it to the front.
    func present() { gtk_window_present(window.pointer) }

    /// Closes it, as its user does.
    func close() { gtk_window_close(window.pointer) }

    /// The daemons say something else.
    func take(_ report: StatusReport) {
        perform(everything.take(report))
        look()
    }

    /// It is closed, or goes with its window.
    func end() {
        guard !isClosed else { return }
        isClosed = true
        views.set(HandoffNames.everythingInView, isSeen: false)
        onClose?()
    }

    // MARK: What is seen

    /// Shows what there is, without touching what is the same as before.
    func render() {
        guard let owner, !isClosed else { return }
        let (page, former) = (EverythingPage(everything, at: Self.now, owner.applications.names), shown)
        viewChanged(page)
        guard page != former else { return }
        shown = page
        let keyboard = gtk_window_get_focus(window.pointer)
        let isReading = keyboard.map { gtk_widget_is_ancestor($0, places.pointer) != 0 } ?? false
        window[text: "title"] = page.title
        rows.set(page.rows)
        places[text: "visible-child-name"] = page.place.rawValue
        template["spinner"][flag: "spinning"] = page.place == .waiting
        template["refused"][text: "description"] = Markup.escaped(page.reason)
        standing[text: "label"] = page.place == .list && !page.reason.isEmpty ? page.reason : page.standing
        refresh[flag: "sensitive"] = page.canList
        bottom[flag: "visible"] = page.place == .list || page.place == .refused
        show(page.action)
        let isNew = page.place != former?.place || page.action.button != former?.action.button
        if isNew, !isReading { focus(page.action.button) }
    }

    private func show(_ action: EverythingPage.Action) {
        for (button, widget) in buttons { widget[flag: "visible"] = button == action.button }
        switch action {
        case .begin(let count):
            let label = count == 0 ? tr("_Continue") : tr("_Continue {count}", ["count": "\(count)"])
            begin[text: "label"] = label
            begin.name(label.filter { $0 != "_" })
            begin[flag: "sensitive"] = count > 0
        case .cancel(let isPossible): cancel[flag: "sensitive"] = isPossible
        case .again: break
        }
    }

    private var buttons: [(EverythingPage.Action.Button, GTKObject)] {
        [(.begin, begin), (.cancel, cancel), (.again, again)]
    }

    /// What there is to do is done by Enter; but what ends it is not what the same key is pressed for once more.
    private func focus(_ button: EverythingPage.Action.Button) {
        gtk_window_set_focus(window.pointer, nil)
        guard button != .cancel, bottom[flag: "visible"] else { return }
        for (one, widget) in buttons where one == button { gtk_widget_grab_focus(widget.pointer) }
    }

    // MARK: What the user does

    private func tick(_ path: ObjectPath, _ isWanted: Bool) {
        everything.tick(path, isWanted)
        owner?.render()
    }

    private func continueChosen() {
        guard let owner else { return }
        let best = everything.chosen.first?.handlers.first
        let token = owner.applications.activationToken(for: best, from: window)
        perform(everything.begin(token: token))
    }

    private func connect() {
        begin.on("clicked") { [weak self] in self?.continueChosen() }
        cancel.on("clicked") { [weak self] in if let self { perform(everything.cancel()) } }
        for button in [again, refresh] {
            button.on("clicked") { [weak self] in if let self { perform(everything.list()) } }
        }
        window.on("notify::is-active") { [weak self] in self?.look() }
        window.answer("close-request") { [weak self] in
            self?.end()
            return false
        }
    }

    private func perform(_ requests: [Request]) {
        guard !requests.isEmpty else { return }
        owner?.render()
        for request in requests {
            session.perform(request) { [weak self] outcome in
                guard let self, !isClosed else { return }
                everything.finish(request, outcome, at: Self.now)
                if case .cancelAll = request, case .failed(_, let message) = outcome {
                    MessageDialog(tr("Not Cancelled"), message, [.init("close", tr("_Close"))])
                        .ask(over: window) { _ in }
                }
                owner?.render()
                look()
            }
        }
    }

    // MARK: What happens

    private var isInFront: Bool { !isClosed && gtk_window_is_active(window.pointer) != 0 }

    private func viewChanged(_ page: EverythingPage) {
        views.set(HandoffNames.everythingInView, isSeen: isInFront && page.showsOutcome)
    }

    /// While the user looks at it, a list that is too old is asked for again; otherwise nothing wakes.
    private func look() {
        if let shown { viewChanged(shown) }
        guard isInFront else { return }
        let requests = everything.look(at: Self.now)
        if !requests.isEmpty { return perform(requests) }
        guard !isTicking, let time = everything.remainingTime(at: Self.now) else { return }
        isTicking = true
        Later.call(afterMilliseconds: UInt32(clamping: time / 1000 + 1)) { [weak self] in
            self?.isTicking = false
            self?.look()
        }
    }

    private static var now: Int64 { Int64(g_get_real_time()) }
}

extension EverythingPage.Action {
    /// The buttons, of which one is there at a time.
    fileprivate enum Button {
        case begin
        case cancel
        case again
    }

    /// The one that is there.
    fileprivate var button: Button {
        switch self {
        case .begin: .begin
        case .cancel: .cancel
        case .again: .again
        }
    }
}

/// Something that is open at another device.
@MainActor
final class OpenRowView: ContentRow {
    let widget: GTKObject
    private let picture, check, done: GTKObject
    private let applications: InstalledApplications
    private var content: OpenRow?
    private var isShowing = false

    /// A row that calls `tick` with whether the user wants it.
    init(_ applications: InstalledApplications, _ tick: @escaping @MainActor (ObjectPath, Bool) -> Void) {
        let template = Template(Templates.open)
        (widget, picture) = (template["row"], template["picture"])
        (check, done) = (template["check"], template["done"])
        self.applications = applications
        check.on("notify::active") { [weak self] in
            guard let self, !isShowing, let content else { return }
            tick(content.path, check[flag: "active"])
        }
    }

    func show(_ content: OpenRow) {
        isShowing = true
        defer { isShowing = false }
        self.content = content
        widget[text: "title"] = content.title
        widget[text: "subtitle"] = content.detail
        applications.show(content.pictures, in: picture)
        check[flag: "active"] = content.isTicked
        check[flag: "sensitive"] = content.canTick
        done[flag: "visible"] = content.isContinued
        check.name(content.title)
        check.describe(content.detail)
    }
}
