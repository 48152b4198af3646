// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffSettingsModel
internal import HandoffStatus
import Platform

/// Something that is wrong, at the top of the window.
@MainActor
final class BarRow: ContentRow {
    let widget: GTKObject
    private let text, remedy, mend: GTKObject
    private let actor: WindowActor
    private var content: ProblemBar?

    /// A bar of the window of `actor`.
    init(_ actor: WindowActor) {
        let template = Template(Templates.bar)
        widget = template["row"]
        (text, remedy, mend) = (template["text"], template["remedy"], template["mend"])
        self.actor = actor
        mend.on("clicked") { [weak self] in self?.clicked() }
    }

    func show(_ content: ProblemBar) {
        self.content = content
        text[text: "label"] = content.text
        remedy[text: "label"] = content.remedy
        remedy[flag: "visible"] = !content.remedy.isEmpty
        mend[text: "label"] = content.button
        mend[flag: "visible"] = !content.button.isEmpty
    }

    private func clicked() {
        guard let content, let window = actor.window else { return }
        if let request = content.request {
            window.perform(request, orTell: tr("This Cannot Be Fixed From Here"))
        } else if content.mend == .connect {
            window.connectToAddress()
        } else if content.mend == .pair {
            window.pair()
        }
    }
}
