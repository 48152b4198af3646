// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop
package import Platform

/// The owner of a well-known name of the session, as long as that runs in no sandbox: what it says is believed, and a name
/// says nothing of who has taken it.
@MainLoop
package final class OwnerWatch {
    /// Its unique name; nil while there is none that is believed.
    package private(set) var name: BusName?

    private let bus: Bus
    private let log: Log
    private let changed: @MainLoop (BusName?) -> Void
    private var watch: NameWatch?
    private var current: BusName?
    private var hasWarned = false

    /// Whether somebody owns it, believed or not.
    package var hasOwner: Bool { current != nil }

    /// Calls `changed` with the owner of `name`, for the first time once it is known whether there is one, and whenever it
    /// is another, until this is freed. Between an owner and the one that replaces it, there is none while the bus is asked
    /// who that is. Whoever is not believed is named in `log`.
    package init(
        _ bus: Bus, _ name: BusName, log: Log, _ changed: @escaping @MainLoop (BusName?) -> Void
    ) {
        self.bus = bus
        self.log = log
        self.changed = changed
        watch = bus.watch(name) { [weak self] in self?.ownerChanged(name, $0) }
    }

    private func ownerChanged(_ wellKnown: BusName, _ owner: BusName?) {
        current = owner
        guard let owner else { return tell(nil) }
        // Whoever has lost the name answers no longer what it was asked, and may be gone by the time the next is known.
        if let name, name != owner { tell(nil) }
        bus.identify(owner) { [weak self] caller in
            guard let self, current == owner else { return }
            guard caller.sandbox != nil else { return tell(owner) }
            // Whoever takes it again and again does not fill the journal.
            log(
                hasWarned ? .debug : .warning,
                "\(caller.label) has taken the bus name \(wellKnown) from a sandbox, or it cannot be found out that it has"
                    + " not: it is not talked to. End that program.")
            hasWarned = true
            tell(nil)
        }
    }

    private func tell(_ owner: BusName?) {
        name = owner
        changed(owner)
    }
}
