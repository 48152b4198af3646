// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CAdwaita
package import GTKObjects

/// A question to the user, or something that has to be told.
@MainActor
package struct MessageDialog {
    /// One of the answers.
    package struct Answer {
        /// How an answer looks.
        package enum Appearance: UInt32 {
            case plain = 0
            case destructive = 2
        }

        /// What is told when it was chosen.
        let id: String
        /// What its button says.
        let label: String
        /// How its button looks.
        let appearance: Appearance

        /// An answer; the underscore in its label stands before the letter that chooses it.
        package init(_ id: String, _ label: String, _ appearance: Appearance = .plain) {
            self.id = id
            self.label = label
            self.appearance = appearance
        }
    }

    private let heading: String
    private let body: String
    private let answers: [Answer]

    /// A question. The first answer is the one that changes nothing, which closing the dialog gives too. The Enter key gives
    /// the last, unless that destroys something.
    package init(_ heading: String, _ body: String, _ answers: [Answer]) {
        self.heading = heading
        self.body = body
        self.answers = answers
    }

    /// Asks in front of `window`, and calls `done` with the id of the answer.
    package func ask(over window: GTKObject, _ done: @escaping @MainActor (String) -> Void) {
        let dialog = GTKObject(adw_message_dialog_new(window.pointer, heading, nil))
        dialog[text: "body"] = body
        for answer in answers {
            adw_message_dialog_add_response(dialog.pointer, answer.id, answer.label)
            adw_message_dialog_set_response_appearance(
                dialog.pointer, answer.id, answer.appearance.rawValue)
        }
        if let first = answers.first {
            adw_message_dialog_set_close_response(dialog.pointer, first.id)
        }
        if let last = answers.last(where: { $0.appearance != .destructive }) {
            adw_message_dialog_set_default_response(dialog.pointer, last.id)
        }
        dialog.on("response", first: { done(String(cString: UnsafePointer<CChar>($0))) })
        gtk_window_present(dialog.pointer)
    }
}
