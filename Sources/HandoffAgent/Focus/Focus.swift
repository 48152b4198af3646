// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffClient
package import HandoffCore
package import MainLoop

/// Where the user works, as far as the desktop tells.
@MainLoop
package protocol FocusSource: AnyObject {
    /// The window that has the focus; nil if none has, or if nobody tells.
    var window: FocusedWindow? { get }
    /// Whether anybody tells. Otherwise nothing is known of where the user works.
    var isTelling: Bool { get }
    /// Called when ``window`` is another, or something that is said of it has changed, or whether anybody tells.
    var onFocusChange: (@MainLoop () -> Void)? { get set }
}

/// Who makes the tokens with which an application may raise its window.
@MainLoop
package protocol ActivationTokens: AnyObject {
    /// A token for `application`, which the user has just asked for. Empty if nobody makes any, or not in half a second.
    func token(for application: ApplicationID) async -> String
}
