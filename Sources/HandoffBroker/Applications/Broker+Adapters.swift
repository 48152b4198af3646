// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import Platform

extension Broker {
    /// Ends the registrations of adapters whose applications know Handoff themselves, as has turned out, with all that
    /// belongs to them, and tells each adapter so: that is the last thing that it is sent.
    func endReplacedAdapters() {
        for adapter in registry.replacedAdapters {
            guard let name = try? BusName(adapter.connection) else { continue }
            brokerLog.info("\(name) is an adapter of \(adapter.applicationID) no longer. \(adapter.reason)")
            forget(name)
            registry.ended(adapter.connection, adapter.applicationID, adapter.reason)
            unreadMessages.tellEnd(of: adapter.applicationID, to: name, adapter.reason)
        }
    }

    /// The user has switched off these adapters and no others. What their desktop entries declare is not offered as a
    /// handler any more, once that has been looked up again, and not started from now on.
    /// - Throws: if that cannot be stored; then nothing has changed.
    func setDisabledAdapters(_ adapters: Set<AdapterName>) throws {
        try preferences.setDisabledAdapters(adapters)
        registry.disabledAdapters = adapters
    }
}
