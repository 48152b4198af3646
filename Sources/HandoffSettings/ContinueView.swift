// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffSettingsModel
import Platform

/// The page on which people continue.
@MainActor
final class ContinueView {
    private let stack, offersBin, empty, emptyButton, participants: GTKObject
    private let actor: WindowActor
    private let applications: InstalledApplications
    /// What is there to continue or to send, which is made when there is something, so that the window opens soon.
    private var offersView: OffersView?
    private var shownEmpty: ContinuePage.Empty?
    private var shownParticipants: [ContinuePage.Participant] = []

    /// The page in `template`.
    init(_ template: Template, _ applications: InstalledApplications, _ actor: WindowActor) {
        (stack, offersBin) = (template["continue_stack"], template["offers_bin"])
        (empty, emptyButton) = (template["empty"], template["empty_button"])
        participants = template["participants"]
        self.actor = actor
        self.applications = applications
        emptyButton.on("clicked") { [weak self] in self?.emptyClicked() }
    }

    /// Shows `page`.
    func show(_ page: ContinuePage) {
        // What cannot be continued, or sent, has to be seen too.
        let hasOther = page.current != nil || !page.sends.isEmpty || !page.hidden.isEmpty
        let what = hasOther && page.empty == .nothing ? nil : page.empty
        if let what { show(empty: what, page) }
        shownEmpty = what
        let isEmpty = what != nil
        if !isEmpty && offersView == nil { makeOffersView() }
        offersView?.show(page)
        stack[text: "visible-child-name"] = isEmpty ? "empty" : "offers"
    }

    private func makeOffersView() {
        let template = Template(Templates.offers)
        offersView = OffersView(template, applications, actor)
        offersBin[object: "child"] = template["offers_page"]
    }

    private func show(empty what: ContinuePage.Empty, _ page: ContinuePage) {
        let isNew = what != shownEmpty
        show(page.participants)
        let (icon, title, description, button) = Self.texts(what, page)
        empty[text: "icon-name"] = icon
        empty[text: "title"] = title
        empty[text: "description"] = description
        emptyButton[text: "label"] = button
        emptyButton.name(button.filter { $0 != "_" })
        emptyButton[flag: "visible"] = !button.isEmpty
        // What there is to do is done by Enter, unless the user is at something else.
        if isNew, !button.isEmpty, actor.window?.isAtContinue == true {
            gtk_widget_grab_focus(emptyButton.pointer)
        }
    }

    private func show(_ new: [ContinuePage.Participant]) {
        participants[flag: "visible"] = !new.isEmpty
        guard new != shownParticipants else { return }
        shownParticipants = new
        while let child = gtk_widget_get_first_child(participants.pointer) {
            gtk_flow_box_remove(participants.pointer, child)
        }
        for one in new {
            let template = Template(Templates.participant)
            template["name"][text: "label"] = one.name
            applications.show([one.id], in: template["picture"])
            gtk_flow_box_append(participants.pointer, template["row"].pointer)
        }
    }

    private static func texts(
        _ what: ContinuePage.Empty, _ page: ContinuePage
    ) -> (icon: String, title: String, description: String, button: String) {
        if what == .nothing, let lost = page.lost {
            return (
                "dialog-warning-symbolic", tr("“{title}” Was Not Continued", ["title": lost.title]),
                Markup.escaped(lost.reason) + "\n" + tr("It is not offered any more."), ""
            )
        }
        return switch what {
        case .waiting: (SettingsApplication.icon, tr("Looking for Handoff…"), "", "")
        case .stopped:
            (
                "dialog-warning-symbolic", tr("Handoff Is Not Running"),
                tr("See above for what can be done about it."), ""
            )
        case .switchedOff:
            (
                SettingsApplication.icon, tr("Handoff Is Switched Off"),
                tr("Nothing is offered to your other devices, and nothing of theirs is shown here."), ""
            )
        case .noDevices:
            (
                SettingsApplication.icon, tr("Continue Where You Left Off"),
                tr(
                    "Pair this device with another one of yours, and continue here what you have begun there."
                ),
                tr("_Pair a Device…")
            )
        case .nothing:
            (
                SettingsApplication.icon, tr("Nothing to Continue"),
                !page.participants.isEmpty
                    ? tr(
                        "Use one of these applications on another of your devices. What you do there appears here by itself."
                    )
                    : tr(
                        "Use an application that knows Handoff on one of your other devices. What you do there appears"
                            + " here by itself."), ""
            )
        }
    }

    private func emptyClicked() {
        if shownEmpty == .noDevices { actor.window?.pair() }
    }
}
