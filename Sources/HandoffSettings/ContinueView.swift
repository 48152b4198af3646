// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKSupport
import HandoffSettingsModel
import Platform

/// The page on which people continue.
@MainActor
final class ContinueView {
    private let stack, empty, emptyButton, currentGroup, sendsGroup, hiddenGroup, hiddenExpander: GTKObject
    private let offers: RowList<OfferRow>
    private let sends: RowList<SendRowView>
    private let actor: WindowActor
    private let applications: InstalledApplications
    private var current: CurrentRow?
    private var hidden: [GTKObject] = []
    private var shownHidden: [HiddenRow] = []
    private var shownEmpty: ContinuePage.Empty?

    /// The page in `template`.
    init(_ template: Template, _ applications: InstalledApplications, _ actor: WindowActor) {
        (stack, empty) = (template["continue_stack"], template["empty"])
        emptyButton = template["empty_button"]
        (currentGroup, hiddenGroup) = (template["current_group"], template["hidden_group"])
        (sendsGroup, hiddenExpander) = (template["sends_group"], template["hidden_expander"])
        self.actor = actor
        self.applications = applications
        offers = RowList(template["offers"]) { _ in OfferRow(applications, actor) }
        sends = RowList(template["sends"]) { _ in SendRowView(actor) }
        emptyButton.on("clicked") { [weak self] in self?.emptyClicked() }
    }

    /// Shows `page`.
    func show(_ page: ContinuePage) {
        offers.set(page.offers)
        show(current: page.current)
        sends.set(page.sends)
        sendsGroup[flag: "visible"] = !page.sends.isEmpty
        show(hidden: page.hidden)
        // What cannot be continued, or sent, has to be seen too.
        let hasOther = page.current != nil || !page.sends.isEmpty || !page.hidden.isEmpty
        if let what = page.empty, !hasOther || what != .nothing { show(empty: what) }
        stack[text: "visible-child-name"] =
            page.empty == nil || (hasOther && page.empty == .nothing) ? "offers" : "empty"
    }

    private func show(current card: CurrentCard?) {
        currentGroup[flag: "visible"] = card != nil
        guard let card else { return }
        if current == nil {
            let row = CurrentRow(applications, actor)
            adw_preferences_group_add(currentGroup.pointer, row.widget.pointer)
            current = row
        }
        current?.show(card)
    }

    private func show(hidden rows: [HiddenRow]) {
        hiddenGroup[flag: "visible"] = !rows.isEmpty
        guard rows != shownHidden else { return }
        shownHidden = rows
        hiddenExpander[text: "subtitle"] = trn("{count} offer", "{count} offers", count: rows.count)
        for widget in hidden { adw_expander_row_remove(hiddenExpander.pointer, widget.pointer) }
        hidden = rows.map { content in
            let row = Template(Templates.hidden)
            row["title"][text: "label"] = content.title
            row["detail"][text: "label"] = content.detail
            row["reason"][text: "label"] = content.reason
            adw_expander_row_add_row(hiddenExpander.pointer, row["row"].pointer)
            return row["row"]
        }
    }

    private func show(empty what: ContinuePage.Empty) {
        shownEmpty = what
        let (icon, title, description, button) = Self.texts(what)
        empty[text: "icon-name"] = icon
        empty[text: "title"] = title
        empty[text: "description"] = description
        emptyButton[text: "label"] = button
        emptyButton.name(button.filter { $0 != "_" })
        emptyButton[flag: "visible"] = !button.isEmpty
    }

    private static func texts(
        _ what: ContinuePage.Empty
    ) -> (icon: String, title: String, description: String, button: String) {
        switch what {
        case .waiting: (SettingsApplication.icon, tr("Looking for Handoff…"), "", "")
        case .stopped:
            (
                "dialog-warning-symbolic", tr("Handoff Is Not Running"),
                tr("What can be done about it stands above."), ""
            )
        case .switchedOff:
            (
                SettingsApplication.icon, tr("Handoff Is Switched Off"),
                tr("Nothing is offered to your other devices, and nothing of theirs is shown here."), ""
            )
        case .noDevices:
            (
                SettingsApplication.icon, tr("Go On Where You Left Off"),
                tr(
                    "Pair this device with another one of yours, and continue here what you have begun there."
                ),
                tr("_Pair a Device…")
            )
        case .nothing:
            (
                SettingsApplication.icon, tr("Nothing to Continue"),
                tr(
                    "Use an application that knows Handoff on one of your other devices. What you do there appears"
                        + " here by itself."), ""
            )
        }
    }

    private func emptyClicked() {
        if shownEmpty == .noDevices { actor.window?.pair() }
    }
}
