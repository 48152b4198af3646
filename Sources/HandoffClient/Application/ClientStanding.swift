// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// How a client stands with the broker.
package enum ClientStanding: Equatable, Sendable {
    /// There is no broker; what is wanted is kept for when one comes.
    case absent
    /// The application is registered.
    case registered
    /// The broker has refused the registration, or has not answered it yet, with this error.
    case refused(DBusError)
    /// The client is an adapter, and its application turned out to know Handoff itself, as the broker says here. The
    /// client has left the bus; nothing follows, and nothing is sent, until it is started again.
    case replaced(DBusError)
    /// There is no bus. Nothing follows.
    case withoutBus
    /// The bus has ended, and the session with it. Nothing follows.
    case busEnded
}
