// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import MainLoop
package import Platform

/// Watches who the other daemon is: the owner of its bus name, unless that connection is in a sandbox.
///
/// Both names can be taken over, and a sandbox may be allowed to own any name: whoever takes one from within
/// a sandbox is ignored, and never called.
@MainLoop
package final class DaemonWatch {
    private let name: BusName
    private let log: Log
    private let body: @MainLoop (BusName?) -> Void
    private unowned let bus: Bus
    private var watch: NameWatch?
    /// The owner that the bus reported last, whoever that is.
    private var latest: BusName?
    /// The daemon that was told of last.
    private var daemon: BusName?

    /// Calls `body` with the unique name of the daemon `name`, or nil for none: once it is known, then at each change, until
    /// this is freed. Between a daemon and the one that replaces it, there is none while the bus is asked who that is.
    package init(_ name: BusName, on bus: Bus, log: Log, _ body: @escaping @MainLoop (BusName?) -> Void) {
        self.name = name
        self.bus = bus
        self.log = log
        self.body = body
        watch = bus.watch(name) { [weak self] in self?.changed($0) }
    }

    private func changed(_ owner: BusName?) {
        latest = owner
        guard let owner else { return tell(nil) }
        // Whoever has lost the name answers no longer what it was asked, and may be gone by the time the next is known.
        if let daemon, daemon != owner { tell(nil) }
        bus.identify(owner) { [weak self] in self?.identified($0, owner) }
    }

    private func identified(_ caller: Caller, _ owner: BusName) {
        // The connection may have lost the name in the meantime.
        guard latest == owner else { return }
        guard caller.sandbox == nil else {
            log.warning(
                "\(owner) has taken the bus name \(name) from a sandbox, or it cannot be found out that it has not:"
                    + " it is not talked to. End that program, then start the daemon anew.")
            return tell(nil)
        }
        tell(owner)
    }

    private func tell(_ owner: BusName?) {
        daemon = owner
        body(owner)
    }
}
