// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import MainLoop

extension AccessClass {
    /// Every client.
    package static let any: AccessClass = "any"
    /// The connection that the object belongs to.
    package static let owner: AccessClass = "owner"
    /// The owner of the object, and every client that does not run in a sandbox.
    package static let unsandboxed: AccessClass = "unsandboxed"
    /// The connection that owns the bridge's bus name now, unless it runs in a sandbox.
    package static let bridge: AccessClass = "bridge"
    /// The connection that owns the broker's bus name now, unless it runs in a sandbox.
    package static let broker: AccessClass = "broker"
    /// The connection that owns the agent's bus name now, unless it runs in a sandbox.
    package static let agent: AccessClass = "agent"
    /// On a link: every device at its other end.
    package static let stranger: AccessClass = "stranger"
    /// On a link: a device that both sides have paired.
    package static let paired: AccessClass = "paired"
    /// The class that the place demands where the interface is served; on a link, the same as ``paired``.
    package static let routed: AccessClass = "routed"
}

/// What the access classes of the interfaces mean on a bus, for both daemons. A class that this policy does
/// not know is denied.
///
/// For a sandboxed caller, what it may not use does not exist; every other caller is told why it is denied.
@MainLoop
package final class BusAccessPolicy: AccessPolicy {
    /// The unique names of the connections that own the bus names of the classes ``AccessClass/bridge``,
    /// ``AccessClass/broker`` and ``AccessClass/agent`` now; if there is no entry, nobody belongs to the class.
    package var nameOwners: [AccessClass: BusName] = [:]

    /// Whether it can be found out who runs in a sandbox. Within one it cannot: there, the word of the bus has to do.
    package var seesSandboxes = true

    private var watches: [NameWatch] = []

    /// A policy that keeps ``nameOwners`` up to date by watching the names of the two daemons on `bus`.
    ///
    /// To be created before a name is requested: then no call that depends on an owner arrives before that is
    /// known.
    package convenience init(bus: Bus) {
        self.init(bus: bus, watching: [.bridge, .broker])
    }

    /// A policy that keeps ``nameOwners`` of these classes up to date, as the other does.
    package convenience init(bus: Bus, watching classes: [AccessClass]) {
        self.init()
        for access in classes {
            guard let name = Self.names[access] else { continue }
            watches.append(bus.watch(name) { [weak self] in self?.nameOwners[access] = $0 })
        }
    }

    /// The bus names of the classes that are told by one.
    private static let names: [AccessClass: BusName] = [
        .bridge: HandoffNames.bridge, .broker: HandoffNames.broker, .agent: HandoffNames.agent,
    ]

    /// A policy whose ``nameOwners`` are set by others.
    package init() {}

    /// Decides by whether the caller belongs to the class that the request demands.
    package func decide(_ request: AccessRequest) -> AccessDecision {
        let caller = request.caller
        guard let name = caller.name else { return refusal(of: request, "is not open to another device") }
        switch request.access {
        case .any: return .allow
        case .owner:
            if name == request.object.owner { return .allow }
            return refusal(of: request, "is open only to the connection that the object belongs to")
        case .unsandboxed:
            if caller.sandbox == nil || name == request.object.owner { return .allow }
            return .hide
        case .bridge, .broker, .agent:
            if name == nameOwners[request.access], caller.sandbox == nil || !seesSandboxes { return .allow }
            let owner = Self.names[request.access]?.text ?? ""
            return refusal(of: request, "is open only to the owner of the bus name \(owner)")
        default: return refusal(of: request, "is not open to anybody on this bus")
        }
    }

    private func refusal(of request: AccessRequest, _ reason: String) -> AccessDecision {
        if request.caller.sandbox != nil { return .hide }
        return .deny(
            .accessDenied(
                "\(request.interface).\(request.member) of \(request.object.path) \(reason), which"
                    + " \(request.caller.label) is not. Use the objects that GetManagedObjects lists."))
    }
}
