// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffSettingsModel
import Platform

/// Something that was sent to another device: that it is on its way, why it has not arrived, or that it waits.
@MainActor
final class SendRowView: ContentRow {
    let widget: GTKObject
    private let standing, device, reason, dismiss, spinner, warning: GTKObject
    private var content: SendRow?

    /// A row of the window of `actor`.
    init(_ actor: WindowActor) {
        let template = Template(Templates.sent)
        (widget, standing, device) = (template["row"], template["standing"], template["device"])
        (reason, dismiss) = (template["reason"], template["dismiss"])
        (spinner, warning) = (template["spinner"], template["warning"])
        dismiss.on("clicked") { [weak self] in
            guard let content = self?.content else { return }
            if case .waiting = content.standing {
                actor.window?.perform(
                    .cancelWaiting(content.id, device: content.deviceID), orTell: tr("Not Cancelled"))
            } else {
                actor.window?.forgetSending(to: content.deviceID)
            }
        }
    }

    func show(_ content: SendRow) {
        self.content = content
        let isRunning = content.standing == .running
        var isFailure = false
        switch content.standing {
        case .running: standing[text: "label"] = tr("Being sent…")
        case .failed(let why):
            (standing[text: "label"], reason[text: "label"], isFailure) = (tr("Not Sent"), why, true)
        case .waiting(let title, let detail):
            (standing[text: "label"], reason[text: "label"]) = (
                tr("“{title}” waits", ["title": title]), detail
            )
        }
        device[text: "label"] = content.device
        for part in [reason, dismiss] { part[flag: "visible"] = !isRunning }
        warning[flag: "visible"] = isFailure
        let action = isFailure ? tr("Dismiss") : tr("Cancel Sending")
        dismiss[text: "tooltip-text"] = action
        dismiss.name(action)
        spinner[flag: "visible"] = isRunning
        spinner[flag: "spinning"] = isRunning
        dismiss.describe(content.device)
    }
}
