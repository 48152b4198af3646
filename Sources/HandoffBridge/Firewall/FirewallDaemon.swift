// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop
internal import Platform

/// firewalld on the system bus (firewalld.dbus(5)), as long as it runs. It is never started.
@MainLoop
final class FirewallDaemon {
    private static let name: BusName = "org.fedoraproject.FirewallD1"
    private static let root: ObjectPath = "/org/fedoraproject/FirewallD1"
    private static let main: InterfaceName = "org.fedoraproject.FirewallD1"
    private static let zone: InterfaceName = "org.fedoraproject.FirewallD1.zone"
    private static let rules = [main, zone].map { MatchRule(sender: name, interface: $0) }
    private static let timeout = Duration.seconds(5)
    /// More services are not asked for: what they let in is not known then.
    private static let maximumServices = 64
    /// What firewalld calls Handoff, in `data/firewalld/handoff.xml`.
    private static let service = "handoff"
    /// What that service lets in.
    private static let servicePorts = [PortRange(Listener.ports, "tcp"), .multicastDNS]
    /// What polkit calls the right to see names of zones and services, and the right to see what they let in.
    private static let names = "org.fedoraproject.FirewallD1.info"
    private static let settings = "org.fedoraproject.FirewallD1.config.info"

    private let bus: Bus
    private var owner: BusName?
    private var watch: NameWatch?
    private var tokens: [SignalToken] = []

    /// Calls `changed` when firewalld comes, goes, or has other settings, until this is freed.
    init(_ bus: Bus, _ changed: @escaping @MainLoop () -> Void) {
        self.bus = bus
        for rule in Self.rules { bus.addMatch(rule) }
        tokens = [Self.main, Self.zone].map { interface in
            bus.connection.onSignal(interface) { [weak self] signal in
                // Others could send such signals too.
                if let owner = self?.owner, signal.sender == owner { changed() }
            }
        }
        watch = bus.watch(Self.name) { [weak self] owner in
            self?.owner = owner
            changed()
        }
    }

    isolated deinit { for rule in Self.rules { bus.removeMatch(rule) } }

    /// Whether it runs.
    var isRunning: Bool { owner != nil }

    /// Which of the ports `needed` it does not let in by `interface`, or by one that it has not been told of; or if only the
    /// administrator may see that, all of them.
    /// - Returns: nil if it lets them in, or does not say.
    func finding(_ needed: [PortRange], by interface: String?) async -> FirewallFinding? {
        guard let owner else { return nil }
        // firewalld has the user asked for a password for what he may not see. Nobody is to be asked because Handoff looks.
        let authority = PolicyAuthority(bus)
        guard await authority.allows(Self.names) else {
            return FirewallFinding(program: .firewalld, ports: needed, isCertain: false)
        }
        do {
            let zone = try await zone(of: interface, owner)
            guard await authority.allows(Self.settings) else {
                let services: [String] = try await ask(owner, Self.main, "listServices")
                let isEnough =
                    services.contains(Self.service)
                    && needed.allSatisfy { $0.isCovered(by: Self.servicePorts) }
                return FirewallFinding(
                    program: .firewalld, zone: zone, ports: needed, isCertain: false,
                    service: isEnough ? Self.service : "")
            }
            return try await certainFinding(needed, in: zone, owner)
        } catch {
            bridgeLog.debug("firewalld does not say what it lets in: \(error)")
            return nil
        }
    }

    /// The zone of `interface`; the default one if there is none, or firewalld has not been told of it.
    private func zone(of interface: String?, _ owner: BusName) async throws -> String {
        if let interface {
            let zone: String = try await ask(owner, Self.zone, "getZoneOfInterface", interface)
            if !zone.isEmpty { return zone }
        }
        return try await ask(owner, Self.main, "getDefaultZone")
    }

    /// Which of the ports `needed` the zone does not let in.
    private func certainFinding(
        _ needed: [PortRange], in zone: String, _ owner: BusName
    ) async throws -> FirewallFinding? {
        let settings = FirewallSettings(try await ask(owner, Self.zone, "getZoneSettings2", zone))
        if settings.letsInMore { return nil }
        guard let open = try await open(settings, owner) else { return nil }
        let blocked = needed.filter { !$0.isCovered(by: open) }
        if blocked.isEmpty { return nil }
        let ours = try? await ports(of: Self.service, owner)
        let isEnough = ours.map { ours in blocked.allSatisfy { $0.isCovered(by: ours.all) } } ?? false
        return FirewallFinding(
            program: .firewalld, zone: zone, ports: blocked, isCertain: true,
            service: isEnough ? Self.service : "")
    }

    /// What `settings` let in, with what its services do; nil if those are too many.
    private func open(_ settings: FirewallSettings, _ owner: BusName) async throws -> [PortRange]? {
        var open = settings.ports
        var (waiting, asked) = (settings.services, Set<String>())
        while let service = waiting.popLast() {
            guard asked.insert(service).inserted else { continue }
            guard asked.count <= Self.maximumServices else { return nil }
            let ports = try await ports(of: service, owner)
            open += ports.own
            waiting += ports.included
        }
        return open
    }

    /// The ports of a service, and the services that it includes.
    private func ports(
        of service: String, _ owner: BusName
    ) async throws -> (own: [PortRange], included: [String], all: [PortRange]) {
        let settings = FirewallSettings(try await ask(owner, Self.main, "getServiceSettings2", service))
        let dns = settings.services.contains("mdns") ? [PortRange.multicastDNS] : []
        return (settings.ports, settings.services, settings.ports + dns)
    }

    private func ask<Answer: DBusType>(
        _ owner: BusName, _ interface: InterfaceName, _ member: MemberName, _ arguments: String...
    ) async throws -> Answer {
        let object = RemoteObject(bus.connection, owner, Self.root)
        let reply = try await object.call(
            interface, member, output: Answer.typeSignature, timeout: Self.timeout
        ) { (writer) throws(DBusError) in for argument in arguments { try writer.write(argument) } }
        var reader = MessageReader(reply)
        return try reader.read()
    }
}
