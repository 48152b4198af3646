// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffSettingsModel
import Platform

/// Something that this window has sent to another device: that it is on its way, or why it has not arrived.
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
            if let content = self?.content { actor.window?.forgetSending(to: content.id) }
        }
    }

    func show(_ content: SendRow) {
        self.content = content
        let isRunning = content.reason == nil
        standing[text: "label"] = isRunning ? tr("Being sent…") : tr("Not Sent")
        device[text: "label"] = content.device
        reason[text: "label"] = content.reason ?? ""
        for part in [reason, dismiss, warning] { part[flag: "visible"] = !isRunning }
        spinner[flag: "visible"] = isRunning
        spinner[flag: "spinning"] = isRunning
        dismiss.describe(content.device)
    }
}
