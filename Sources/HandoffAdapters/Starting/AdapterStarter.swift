// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
internal import HandoffCore
package import MainLoop
package import Platform

/// Starts adapters when their applications appear: only those of which an application is installed that the user does not keep
/// Handoff out of, which the user has not switched off, and only while there is a broker and Handoff is on. For the others nothing is asked of the bus.
@MainLoop
package final class AdapterStarter {
    /// The adapters that may run, by name.
    package private(set) var launchers: [AdapterLauncher] = []
    /// Called when ``launchers`` are others.
    package var onChange: (@MainLoop () -> Void)?
    /// Called when other adapters are installed.
    package var onInstalled: (@MainLoop () -> Void)?
    /// The adapters that are installed and needed.
    package var installed: [InstalledAdapter] { catalogue.adapters }

    private let bus: Bus
    private let log: Log
    private let catalogue: AdapterCatalogue
    /// What the user has chosen; nil while there is no broker.
    private var preferences: [String: Value]?
    private var token: SignalToken?

    /// Starts them on `bus`, and says in `log` which it cannot.
    package init(on bus: Bus, log: Log) {
        (self.bus, self.log) = (bus, log)
        catalogue = AdapterCatalogue(log: log)
    }

    /// Begins to look which there are. Nothing is started before ``update(_:)`` has said that something may be.
    package func begin() {
        token = bus.connection.onSignal(.bus, "NameOwnerChanged") { [weak self] in self?.ownerChanged($0) }
        catalogue.onChange = { [weak self] in
            self?.choose()
            self?.onInstalled?()
        }
        catalogue.begin()
    }

    /// The user has chosen something else: these are the properties of `Preferences`, nil while there is no broker.
    package func update(_ preferences: [String: Value]?) {
        self.preferences = preferences
        choose()
    }

    private func choose() {
        var former: [InstalledAdapter: AdapterLauncher] = [:]
        for launcher in launchers { former[launcher.adapter] = launcher }
        var new: [AdapterLauncher] = []
        let next = wanted.map { adapter, busName in
            if let launcher = former.removeValue(forKey: adapter) { return launcher }
            let launcher = AdapterLauncher(adapter, busName, on: bus, log: log)
            new.append(launcher)
            return launcher
        }
        guard !new.isEmpty || !former.isEmpty else { return }
        launchers = next
        if !new.isEmpty { lookFor(new) }
        onChange?()
    }

    private var wanted: [(InstalledAdapter, BusName)] {
        guard let preferences, preferences.flag("Enabled") else { return [] }
        let disabled = Set(preferences.texts("DisabledAdapters"))
        let excluded = Set(preferences.texts("ExcludedApplications"))
        return catalogue.adapters.compactMap { installed in
            let adapter = installed.without(excluded)
            guard let busName = adapter.description.busName, adapter.isNeeded,
                !disabled.contains(adapter.description.name.description)
            else { return nil }
            return (adapter, busName)
        }
    }

    /// Finds out which applications of `new` launchers are there already. What comes from now on the bus tells.
    private func lookFor(_ new: [AdapterLauncher]) {
        let bus = bus
        MainLoop.start { [weak self] in
            guard let names = try? await bus.names() else { return }
            for launcher in new where self?.launchers.contains(where: { $0 === launcher }) == true {
                for name in names { launcher.nameChanged(name, hasOwner: true) }
            }
        }
    }

    private func ownerChanged(_ signal: Message) {
        guard signal.sender == Self.bus else { return }
        var reader = MessageReader(signal)
        guard let name: String = try? reader.read(), !name.hasPrefix(":"),
            (try? reader.read(String.self)) != nil,
            let owner: String = try? reader.read()
        else { return }
        for launcher in launchers { launcher.nameChanged(name, hasOwner: !owner.isEmpty) }
    }

    private static let bus: BusName = "org.freedesktop.DBus"
}
