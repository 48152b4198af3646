// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffSettingsModel
import Platform

/// What can be continued here, and what is done here and can be sent.
@MainActor
final class OffersView {
    private let currentGroup, sendsGroup, hiddenGroup, hiddenExpander: GTKObject
    private let offers: RowList<OfferRow>
    private let sends: RowList<SendRowView>
    private let actor: WindowActor
    private let applications: InstalledApplications
    private var current: CurrentRow?
    private var hidden: [GTKObject] = []
    private var shownHidden: [HiddenRow] = []

    /// The lists in `template`.
    init(_ template: Template, _ applications: InstalledApplications, _ actor: WindowActor) {
        (currentGroup, hiddenGroup) = (template["current_group"], template["hidden_group"])
        (sendsGroup, hiddenExpander) = (template["sends_group"], template["hidden_expander"])
        self.actor = actor
        self.applications = applications
        offers = RowList(template["offers"]) { _ in OfferRow(applications, actor) }
        sends = RowList(template["sends"]) { _ in SendRowView(actor) }
    }

    /// Shows what `page` has of it.
    func show(_ page: ContinuePage) {
        offers.set(page.offers)
        show(current: page.current)
        sends.set(page.sends)
        sendsGroup[flag: "visible"] = !page.sends.isEmpty
        show(hidden: page.hidden)
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
            let canFind =
                !content.software.isEmpty && !applications.isInstalled(content.applicationID)
                && applications.hasSoftwareCentre
            row["find"][flag: "visible"] = canFind
            row["find"].describe(content.title)
            row["find"].on("clicked") { [actor] in actor.window?.open(content.software) }
            adw_expander_row_add_row(hiddenExpander.pointer, row["row"].pointer)
            return row["row"]
        }
    }
}
