// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
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
    /// is another. Whoever is not believed is named in `log`.
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
        name = nil
        guard let owner else { return changed(nil) }
        bus.identify(owner) { [weak self] caller in
            guard let self, current == owner else { return }
            if caller.sandbox == nil {
                name = owner
            } else {
                // Whoever takes it again and again does not fill the journal.
                log(
                    hasWarned ? .debug : .warning,
                    "\(caller.label) has taken \(wellKnown) from within a sandbox, and is not believed.")
                hasWarned = true
            }
            changed(name)
        }
    }
}
