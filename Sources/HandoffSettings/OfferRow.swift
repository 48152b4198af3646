// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffSettingsModel
import Platform

/// An offer of another device: what it is, and what can be done with it.
@MainActor
final class OfferRow: ContentRow {
    let widget: GTKObject
    private let picture, title, device, sent, detail, menu, begin, running, progress, cancel, failed, reason,
        again: GTKObject
    private let commands: Commands
    private let applications: InstalledApplications
    private let actor: WindowActor
    private var content: OfferCard?
    /// Counts the states, so that a bar without a measure stops to move when there is another.
    private var pulses = 0

    /// A row of the window of `actor`.
    init(_ applications: InstalledApplications, _ actor: WindowActor) {
        let template = Template(Templates.offer)
        widget = template["row"]
        (picture, title, device) = (template["picture"], template["title"], template["device"])
        (detail, menu, begin) = (template["detail"], template["menu"], template["begin"])
        sent = template["sent"]
        (running, progress, cancel) = (template["running"], template["progress"], template["cancel"])
        (failed, reason, again) = (template["failed"], template["reason"], template["again"])
        self.applications = applications
        self.actor = actor
        commands = Commands("offer", in: widget)
        begin.on("clicked") { [weak self] in self?.continueOffer(in: nil) }
        again.on("clicked") { [weak self] in self?.continueOffer(in: nil) }
        cancel.on("clicked") { [weak self] in
            guard let self, let content else { return }
            actor.window?.perform(.cancelContinuing(content.path), orTell: tr("Not Cancelled"))
        }
        commands.add("everything") { [weak self] in
            guard let self, let content else { return }
            actor.window?.showEverything(of: content.deviceID)
        }
        commands.add("dismiss") { [weak self] in
            guard let self, let content else { return }
            actor.window?.perform(.dismiss(content.path), orTell: tr("Not Dismissed"))
        }
    }

    func show(_ content: OfferCard) {
        let former = self.content
        self.content = content
        applications.show(content.pictures, in: picture)
        title[text: "label"] = content.title
        device[text: "label"] = content.device
        sent[flag: "visible"] = content.isInvited
        detail[text: "label"] = content.detail
        let name = content.title
        begin.describe(name)
        again.describe(name)
        cancel.describe(name)
        progress.name(tr("How much of it is here"))
        progress.describe(name)
        menu.name(tr("More"))
        menu.describe(name)
        if former?.handlers != content.handlers || former?.everything != content.everything {
            showMenu(content)
        }
        show(content.standing)
    }

    private func show(_ standing: OfferCard.Standing) {
        begin[flag: "visible"] = standing == .available
        pulses += 1
        if case .continuing(let share) = standing {
            running[flag: "visible"] = true
            if let share { progress[fraction: "fraction"] = share } else { pulse(pulses) }
        } else {
            running[flag: "visible"] = false
        }
        if case .failed(let text) = standing {
            failed[flag: "visible"] = true
            reason[text: "label"] = text
        } else {
            failed[flag: "visible"] = false
        }
    }

    /// Moves the bar while there is no measure.
    private func pulse(_ number: Int) {
        gtk_progress_bar_pulse(progress.pointer)
        Later.call(afterMilliseconds: 120) { [weak self] in
            guard let self, number == pulses, widget[object: "parent"] != nil else { return }
            pulse(number)
        }
    }

    private func showMenu(_ content: OfferCard) {
        let model = Menu()
        if content.handlers.count > 1 {
            for (number, handler) in content.handlers.enumerated() {
                commands.add("continue-\(number)") { [weak self] in self?.continueOffer(in: handler.id) }
                model.add(
                    tr("Continue in {application}", ["application": handler.name]), "offer.continue-\(number)"
                )
            }
        }
        if !content.everything.isEmpty { model.add(content.everything, "offer.everything") }
        model.add(tr("Dismiss"), "offer.dismiss")
        model.show(in: menu)
    }

    private func continueOffer(in application: String?) {
        guard let content else { return }
        actor.window?.continueOffer(content, in: application)
    }
}

/// What the user of this device is doing, and where it can be sent.
@MainActor
final class CurrentRow {
    /// The row.
    let widget: GTKObject
    private let picture, send: GTKObject
    private let commands: Commands
    private let applications: InstalledApplications
    private let actor: WindowActor
    private var targets: [CurrentCard.Target] = []

    /// A row of the window of `actor`.
    init(_ applications: InstalledApplications, _ actor: WindowActor) {
        let template = Template(Templates.current)
        (widget, picture, send) = (template["row"], template["picture"], template["send"])
        commands = Commands("current", in: widget)
        self.applications = applications
        self.actor = actor
    }

    /// Shows `card`.
    func show(_ card: CurrentCard) {
        widget[text: "title"] = card.title
        widget[text: "subtitle"] = card.detail
        applications.show(card.pictures, in: picture)
        send.describe(card.title)
        guard targets != card.targets else { return }
        targets = card.targets
        let model = Menu()
        for (number, target) in targets.enumerated() {
            commands.add("send-\(number)") { [weak self] in
                self?.actor.window?.send(to: target.id)
            }
            model.add(target.name, "current.send-\(number)")
        }
        model.show(in: send)
    }
}

/// A menu that is made while the program runs.
@MainActor
struct Menu {
    private let menu: GTKObject

    /// A menu without entries.
    init() {
        let new: OpaquePointer = g_menu_new()
        menu = GTKObject(new)
        g_object_unref(UnsafeMutableRawPointer(new))
    }

    /// Adds an entry that is called `label`, whatever is in it, and does the command `action`.
    func add(_ label: String, _ action: String) {
        // One underscore would stand before the letter that chooses the entry.
        let label = label.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
        g_menu_append(menu.pointer, label, action)
    }

    /// Has `button` open it.
    func show(in button: GTKObject) { button[object: "menu-model"] = menu }
}
