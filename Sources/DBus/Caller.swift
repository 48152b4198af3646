// SPDX-License-Identifier: LGPL-2.1-or-later

/// Who sent a message, as the bus or the link knows it, never as the sender itself claims.
package struct Caller: Sendable {
    /// The unique name on a bus, nil on a channel that is not a bus.
    package let name: BusName?
    /// What the bus knows of the process, nil where it does not say.
    package let credentials: Credentials?
    /// The sandbox that the caller runs in, nil if it is in none.
    package let sandbox: Sandbox?
    /// What the channel calls the other end, e.g. a device's id; for logs.
    package let label: String

    /// A caller on a bus.
    package init(name: BusName, credentials: Credentials?, sandbox: Sandbox?) {
        self.name = name
        self.credentials = credentials
        self.sandbox = sandbox
        label = name.text
    }

    /// The other end of a channel that is not a bus.
    package init(label: String) {
        name = nil
        credentials = nil
        sandbox = nil
        self.label = label
    }
}

/// What the bus says of a connection (`org.freedesktop.DBus.GetConnectionCredentials`).
package struct Credentials: Sendable, Equatable {
    /// The user id, nil if the bus does not know it.
    package let userID: UInt32?
    /// The process id, nil if the bus does not know it.
    package let processID: UInt32?

    /// What a reply of `GetConnectionCredentials` says.
    package init(_ dictionary: [String: Value]) {
        userID = if case .uint32(let id)? = dictionary["UnixUserID"] { id } else { nil }
        processID = if case .uint32(let id)? = dictionary["ProcessID"] { id } else { nil }
    }
}

/// A sandbox that an application runs in.
package enum Sandbox: Sendable, Equatable {
    /// Flatpak, with the application's id from `.flatpak-info`.
    case flatpak(application: String)
    /// Snap, with the snap's name.
    case snap(name: String)
    /// A caller that cannot be examined: it is treated as a sandbox without an identity.
    case unknown
}
