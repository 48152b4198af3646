// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Who owns the bus names of an application, of which there may be many: one for each of its processes.
///
/// A name says nothing of who has taken it. An owner within a sandbox counts only if that is the application's own.
@MainLoop
final class NamedOwners {
    /// An owner that counts.
    struct Owner {
        /// Its unique name.
        let name: BusName
        /// Who it is.
        let caller: Caller
    }

    /// They, by the names that they own.
    private(set) var owners: [BusName: Owner] = [:]

    private let bus: Bus
    private let application: ApplicationID
    private let namespace: BusName
    private let prefix: String
    private let changed: @MainLoop (_ former: Owner?, _ present: Owner?) -> Void
    private var token: SignalToken?
    /// The unique name of the present owner of each name, whether or not it is known who that is.
    private var present: [BusName: BusName] = [:]
    /// Whether there were more names than are followed.
    private var isIncomplete = false
    private lazy var refresher = Refresher { [weak self] in await self?.look() }
    /// Counts the beginnings, so that answers to a former one are worth nothing.
    private var epoch = 0

    /// How many names are followed at a time.
    private static let maximum = 64

    /// The owners of the names within `namespace` that begin with `prefix`. `changed` is called when a name has got another
    /// owner that counts, or none.
    init(
        _ bus: Bus, of application: ApplicationID, within namespace: BusName,
        beginning prefix: String = "",
        _ changed: @escaping @MainLoop (_ former: Owner?, _ present: Owner?) -> Void
    ) {
        (self.bus, self.application, self.namespace) = (bus, application, namespace)
        (self.prefix, self.changed) = (prefix, changed)
    }

    /// Begins to follow them.
    func begin() {
        guard token == nil else { return }
        epoch += 1
        token = bus.connection.onSignal(.bus, "NameOwnerChanged") { [weak self] in self?.ownerChanged($0) }
        bus.addMatch(.ownerChanges(within: namespace))
        refresher.refresh()
    }

    /// Ends that, without calling anybody.
    func end() {
        guard token != nil else { return }
        token = nil
        epoch += 1
        bus.removeMatch(.ownerChanges(within: namespace))
        refresher.cancel()
        (owners, present, isIncomplete) = ([:], [:], false)
    }

    /// Finds those that are there already.
    private func look() async {
        let epoch = epoch
        for text in (try? await bus.names()) ?? [] where isMeant(text) {
            guard epoch == self.epoch, !isIncomplete else { return }
            guard let name = try? BusName(text), present[name] == nil,
                let owner = try? await bus.owner(of: name)
            else { continue }
            if epoch == self.epoch, present[name] == nil { take(name, owner) }
        }
    }

    private func isMeant(_ text: String) -> Bool {
        text.hasPrefix(prefix) && (text == namespace.text || text.hasPrefix(namespace.text + "."))
    }

    private func ownerChanged(_ signal: Message) {
        guard signal.sender == "org.freedesktop.DBus" else { return }
        var reader = MessageReader(signal)
        guard let text: String = try? reader.read(), isMeant(text),
            let name = try? BusName(text),
            (try? reader.read(String.self)) != nil, let new: String = try? reader.read()
        else { return }
        take(name, try? BusName(new))
    }

    private func take(_ name: BusName, _ owner: BusName?) {
        guard present[name] != owner else { return }
        let wasThere = present.removeValue(forKey: name) != nil
        if let former = owners.removeValue(forKey: name),
            !owners.values.contains(where: { $0.name == former.name })
        {
            changed(former, nil)
        }
        if wasThere, owner == nil, isIncomplete {
            isIncomplete = false
            refresher.refresh()
        }
        guard let owner else { return }
        guard present.count < Self.maximum else {
            isIncomplete = true
            return
        }
        present[name] = owner
        let epoch = epoch
        bus.identify(owner) { [weak self] in self?.identified(name, owner, $0, epoch) }
    }

    private func identified(_ name: BusName, _ owner: BusName, _ caller: Caller, _ epoch: Int) {
        guard epoch == self.epoch, present[name] == owner else { return }
        guard Self.counts(caller, as: application) else {
            return adapterLog.debug(
                "\(caller.label) has taken a name of \(application), and is not believed.")
        }
        let new = Owner(name: owner, caller: caller)
        owners[name] = new
        changed(nil, new)
    }

    /// Whether `caller` may say what `application` shows.
    static func counts(_ caller: Caller, as application: ApplicationID) -> Bool {
        switch caller.sandbox {
        case nil: true
        case .flatpak(let id): SandboxPackage.flatpak(id).owns(application)
        // What else a snap may read is decided by rules that only the kernel knows.
        case .snap, .unknown: false
        }
    }
}
