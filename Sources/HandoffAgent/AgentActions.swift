// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import MainLoop

/// What the user can do in a surface. Nothing here waits; what comes of it is seen in the next reports, and failures are
/// told by whoever performs it.
@MainLoop
package protocol AgentActions: AnyObject {
    /// Continues the offer at `path`, if it is still there, in the application `applicationID`, or the best one if that is
    /// nil. `token` is an activation token (XDG) or startup id that the surface was given for it; empty if there is none.
    func continueOffer(at path: ObjectPath, in applicationID: String?, token: String)

    /// Hides the offer at `path` until it ends.
    func dismissOffer(at path: ObjectPath)

    /// Sends what is current here to the peer `deviceID`, if that is still one, or to the telephone that it stands for.
    func send(to deviceID: String)

    /// Puts what is in the clipboard of the peer `deviceID`, or what its user has sent here, into the one here.
    func paste(from deviceID: String)

    /// Answers whether both devices show the same code.
    func confirmPairing(with deviceID: String, matches: Bool)

    /// Sets the user's switch.
    func setEnabled(_ isEnabled: Bool)

    /// Opens the Handoff window, or brings it to the front.
    func openWindow(token: String)

    /// The same, with what is open at the peer `deviceID`.
    func openEverything(at deviceID: String, token: String)
}
