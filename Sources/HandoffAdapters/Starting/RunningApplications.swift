// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import MainLoop

/// The applications of an adapter that are on the bus, by the names that they own, and who they are as far as that has been
/// asked for.
@MainLoop
final class RunningApplications {
    /// Called when more is known of who they are.
    var onKnown: (@MainLoop () -> Void)?

    private enum Owner {
        /// Nobody has asked yet.
        case unknown
        /// This connection, of this process if the bus knows it.
        case known(BusName, UInt32?)
    }

    private let bus: Bus
    private var owners: [String: Owner] = [:]
    private var isAsking = false

    /// Anybody can own any number of names: so many are kept.
    static let maximumCount = 64

    /// Those on `bus`; there is none yet.
    init(on bus: Bus) { self.bus = bus }

    /// Whether there is none.
    var isEmpty: Bool { owners.isEmpty }

    /// `name` has an owner, which may be another than before, or none any more.
    func changed(_ name: String, isThere: Bool) {
        guard isThere else {
            owners[name] = nil
            return
        }
        if owners[name] != nil || owners.count < Self.maximumCount { owners[name] = .unknown }
    }

    /// Whether `window` is one of theirs, as far as that is known; what is not is asked for.
    func own(_ window: FocusedWindow) -> Bool {
        guard window.busName != nil || window.processID != nil else { return false }
        var isUnknown = false
        for owner in owners.values {
            guard case .known(let name, let process) = owner else {
                isUnknown = true
                continue
            }
            if name == window.busName { return true }
            if let process, let wanted = window.processID, process == UInt32(wanted) { return true }
        }
        if isUnknown { ask() }
        return false
    }

    private func ask() {
        guard !isAsking else { return }
        isAsking = true
        let bus = bus
        let names = owners.filter { if case .unknown = $0.value { true } else { false } }.keys.sorted()
        MainLoop.start { [weak self] in
            var found: [(String, Caller)] = []
            for name in names {
                guard let name = try? BusName(name), let owner = try? await bus.identifiedOwner(of: name)
                else { continue }
                found.append((name.text, owner))
            }
            self?.answered(found, names)
        }
    }

    private func answered(_ found: [(String, Caller)], _ asked: [String]) {
        isAsking = false
        var gone = Set(asked)
        for (name, owner) in found {
            gone.remove(name)
            // One that has come meanwhile is asked for anew.
            guard case .unknown? = owners[name], let connection = owner.name else { continue }
            owners[name] = .known(connection, owner.credentials?.processID)
        }
        // Whoever is said to be there and cannot be asked leaves; otherwise it would be asked again without end.
        for name in gone { owners[name] = nil }
        onKnown?()
    }
}
