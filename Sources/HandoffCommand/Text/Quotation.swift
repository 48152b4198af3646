// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

extension ChosenText {
    /// The text in the quotation marks of the user's language, which is where it ends.
    var inQuotes: String { shown.inQuotes }
}

extension String {
    /// The text in the quotation marks of the user's language, made fit to be shown.
    var inQuotes: String { tr("“{text}”", ["text": shown]) }
}
