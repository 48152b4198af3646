// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

/// How an application stands with the broker.
package enum HandoffStanding: Equatable, Sendable {
    /// There is no broker, and none can be started; what is wanted is kept for when one comes.
    case absent
    /// The session bus has ended, and with it the session. Nothing follows.
    case ended
    /// The application is registered.
    case registered
    /// The broker has refused the registration.
    case refused(HandoffFailure)
}
