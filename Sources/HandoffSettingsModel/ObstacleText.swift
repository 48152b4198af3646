// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// Why something cannot be continued here, in the user's language.
enum ObstacleText {
    /// What the broker says in `reason`; nil if that is not among what is known.
    static func known(_ reason: String) -> String? {
        guard reason == HandoffFailure.noPlayer else { return nil }
        return tr("No media player that Handoff knows is installed. Install mpv, VLC or Celluloid.")
    }
}
