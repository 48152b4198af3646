// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// An object that a connection serves.
@MainLoop
package final class ExportedObject {
    /// Where it is served.
    package let path: ObjectPath
    /// What it serves besides the standard interfaces.
    package let interfaces: [any InterfaceBinding]
    /// The connection that it belongs to, nil if it belongs to nobody.
    package let owner: BusName?
    /// The class that replaces the access classes of its interfaces, for an interface that is served in
    /// several places.
    package let access: AccessClass?
    /// Whether it is listed by `Introspect` of its parents and by `GetManagedObjects`.
    package let isListed: Bool

    init(
        _ path: ObjectPath, _ interfaces: [any InterfaceBinding], owner: BusName?, access: AccessClass?,
        isListed: Bool
    ) {
        self.path = path
        self.interfaces = interfaces
        self.owner = owner
        self.access = access
        self.isListed = isListed
    }

    func binding(_ interface: String) -> (any InterfaceBinding)? {
        interfaces.first { type(of: $0).description.name.text == interface }
    }
}

/// Who is told that properties have changed.
package enum ChangeAudience {
    /// The unsandboxed connections that called `GetManagedObjects`.
    case subscribers
    /// One connection.
    case only(BusName)
    /// One connection, and the subscribers.
    case subscribersAnd(BusName)
}
