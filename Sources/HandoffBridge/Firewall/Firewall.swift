// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop
internal import Platform

/// Whoever needs to be let in by firewalls.
@MainLoop
protocol FirewallOwner: AnyObject {
    /// The port that is listened on, 0 for none.
    var port: UInt16 { get }
    /// Whether the port is another one of ``Listener/ports`` at each start.
    var choosesPort: Bool { get }
    /// What is known of a firewall has changed.
    func firewallChanged()
}

/// Finds out whether a firewall of this machine keeps other devices out. It looks when there is a reason to; nothing that is
/// not there is asked or started.
@MainLoop
final class Firewall {
    /// What keeps others out, or may do so; nil if nothing is known to.
    private(set) var finding: FirewallFinding? {
        didSet { if finding != oldValue { owner.firewallChanged() } }
    }
    private let owner: any FirewallOwner
    private let discovers: Bool
    private let ufw = UncomplicatedFirewall()
    private var daemon: FirewallDaemon?
    private var isLooking = false
    private var isWantedAgain = false
    /// Tells when ufw is switched on or off, where it is installed.
    private lazy var files = FolderWatch { [weak self] in self?.look() }
    private var watchesFiles = false

    /// A look for `owner`, which finds devices by multicast DNS if it `discovers`.
    init(_ owner: any FirewallOwner, discovers: Bool) {
        (self.owner, self.discovers) = (owner, discovers)
    }

    /// There is another connection with the system bus, or none.
    func busChanged(_ bus: Bus?) {
        daemon = bus.map { FirewallDaemon($0) { [weak self] in self?.look() } }
        look()
    }

    /// The port or the network is another one, or something else has changed that matters.
    func look() {
        // There is one look at a time, whoever changes settings how often.
        isWantedAgain = isLooking
        if isLooking { return }
        guard owner.port != 0 else {
            finding = nil
            return
        }
        isLooking = true
        MainLoop.start { [weak self] in
            let new = await self?.found()
            guard let self else { return }
            isLooking = false
            finding = owner.port == 0 ? nil : new
            if isWantedAgain { look() }
        }
    }

    private func found() async -> FirewallFinding? {
        let needed = self.needed
        let (ufw, isWatched, asks) = (ufw, watchesFiles, daemon?.isRunning == true)
        let seen = try? await BackgroundThread.run("firewall") {
            let state = ufw.look()
            return Seen(
                ufw: state,
                files: state.isInstalled && !isWatched ? WatchedFolders([], files: [ufw.file]) : nil,
                interface: asks ? DefaultRoute.interface() : nil)
        }
        guard let seen else { return nil }
        if let watched = seen.files {
            files.watch(watched)
            watchesFiles = true
        }
        if let daemon, daemon.isRunning { return await daemon.finding(needed, by: seen.interface) }
        guard seen.ufw.isGuarding else { return nil }
        let knowsAll = seen.ufw.knowsHandoff && Listener.ports.contains(owner.port)
        return FirewallFinding(
            program: .ufw, ports: needed, isCertain: false,
            service: knowsAll ? UncomplicatedFirewall.service : "")
    }

    /// What was found on a thread.
    private struct Seen: Sendable {
        let ufw: UncomplicatedFirewall.State
        let files: WatchedFolders?
        let interface: String?
    }

    /// The ports that have to be let in.
    private var needed: [PortRange] {
        let own = owner.choosesPort ? Listener.ports : owner.port...owner.port
        return [PortRange(own, "tcp")] + (discovers ? [.multicastDNS] : [])
    }
}
