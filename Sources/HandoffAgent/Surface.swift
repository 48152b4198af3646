// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffStatus
package import MainLoop

/// A place where the user sees Handoff: notifications, the search, the panel. Each is on its own, and is needed for nothing.
@MainLoop
package protocol Surface: AnyObject {
    /// What it serves at the agent's root object, which all surfaces share. What it serves elsewhere it exports itself.
    var rootInterfaces: [any InterfaceBinding] { get }

    /// Begins to be there: exports what it has, and looks for whoever shows it. Called once, before the agent's bus name is
    /// requested.
    func begin()

    /// Something has changed. Called for each new report, and first for the one that is known when the agent begins.
    func update(_ report: StatusReport)
}

extension Surface {
    /// Nothing, for the surfaces that have places of their own.
    package var rootInterfaces: [any InterfaceBinding] { [] }
}
