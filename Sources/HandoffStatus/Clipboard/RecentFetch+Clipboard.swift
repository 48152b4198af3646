// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension RecentFetch {
    /// What it was that another device took, if that was what is in the clipboard.
    package var clipboard: ClipboardSummary? {
        guard kind == "clipboard" else { return nil }
        // The title of such an entry names the types.
        return ClipboardSummary(
            title.split(separator: ", ").compactMap { ClipboardKind(rawValue: String($0)) })
    }
}
