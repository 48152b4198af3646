// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// The players that are on the bus, but for web browsers, whose pages are none of ours.
@MainLoop
final class PlayerWatch {
    /// Called with what a player says, whenever that may be different.
    var onReport: (@MainLoop (PlayerObject, PlayerReport) -> Void)?
    /// Called when a player is gone, or is given up.
    var onGone: (@MainLoop (PlayerObject) -> Void)?
    /// Called when ``isEmpty`` may be different.
    var onCount: (@MainLoop () -> Void)?

    /// Whether there are none, nor any that is still being looked at.
    var isEmpty: Bool { players.isEmpty && meeting.isEmpty }

    /// Whether it is known of all that are there what they play, or that they do not say it.
    var isSettled: Bool {
        hasBegun && meeting.isEmpty && players.values.allSatisfy { $0.hasBeenAsked || $0.isGivenUp }
    }

    /// How many names are looked at, so that nobody can have any number of them.
    private static let maximumNames = 64
    /// How often a player is asked who it is, which it may not be ready to say when it takes its name.
    private static let maximumAttempts = 3
    private static let patience = Duration.seconds(2)
    /// The adapter is not started for these either, as its description says.
    private static let others = [
        // The pages of browsers.
        "firefox", "chromium", "chrome", "plasma-browser-integration", "brave", "edge", "vivaldi", "opera",
        "epiphany",
        // What shows the players of other devices, or whichever was used last.
        "kdeconnect", "GSConnect", "playerctld",
    ]

    /// Whether those are heard that never say what they play, which is of use only while one of them is being started.
    var hearsSilent = false {
        didSet {
            for player in players.values where player.isSilent {
                if hearsSilent { player.hear() } else { player.ignore() }
            }
        }
    }

    private let service: AdapterService
    private let looks: FileLooks
    private var names: [BusName: BusName] = [:]
    /// Those that are being asked who they are.
    private var meeting: Set<BusName> = []
    private var players: [BusName: PlayerObject] = [:]
    private var tokens: [SignalToken] = []
    /// Whether some were left out, since there were too many.
    private var isIncomplete = false
    /// Whether those are known that were there before.
    private var hasBegun = false

    /// Watches the bus of `service` from ``begin()`` on.
    init(_ service: AdapterService, _ looks: FileLooks) { (self.service, self.looks) = (service, looks) }

    /// Begins, with those that are there already.
    func begin() async throws {
        let bus = service.bus
        tokens = [
            bus.connection.onSignal(.bus, "NameOwnerChanged") { [weak self] in self?.ownerChanged($0) },
            bus.connection.onSignal(.properties, "PropertiesChanged") { [weak self] signal in
                guard let sender = signal.sender, signal.path == PlayerObject.path else { return }
                self?.players[sender]?.changed()
            },
        ]
        bus.addMatch(.ownerChanges(within: PlayerObject.namespace))
        try await lookForNames()
        hasBegun = true
        onCount?()
    }

    private func lookForNames() async throws {
        let bus = service.bus
        for text in try await bus.names() where Self.isPlayer(text) {
            guard let name = try? BusName(text), names[name] == nil, let owner = try await bus.owner(of: name)
            else { continue }
            // A change that was told meanwhile is newer.
            if names[name] == nil { appeared(name, owner) }
        }
    }

    /// Begins anew with all that are there: the user keeps Handoff out of others than before.
    func lookAgain() {
        for player in players.values where service.isExcluded(player.application) { forget(player) }
        for owner in Set(names.values) where players[owner] == nil { meet(owner) }
    }

    /// Has what all of them have said last come again.
    func repeatReports() {
        for player in players.values { player.repeatReport() }
    }

    /// The players of `application` that are not given up, in no order.
    func players(of application: ApplicationID) -> [PlayerObject] {
        players.values.filter { $0.application == application && !$0.isGivenUp }
    }

    /// The player that has the unique name `owner`; nil if there is none.
    subscript(owner: BusName) -> PlayerObject? { players[owner] }

    // MARK: Names

    private static func isPlayer(_ name: String) -> Bool {
        let prefix = PlayerObject.namespace.text + "."
        guard name.utf8.starts(with: prefix.utf8) else { return false }
        return !others.contains { other in
            let rest = name.dropFirst(prefix.count)
            return rest == other || rest.hasPrefix(other + ".")
        }
    }

    private func ownerChanged(_ signal: Message) {
        guard signal.sender?.text == "org.freedesktop.DBus" else { return }
        var reader = MessageReader(signal)
        guard let text: String = try? reader.read(), Self.isPlayer(text), let name = try? BusName(text),
            (try? reader.read(String.self)) != nil, let new: String = try? reader.read()
        else { return }
        if let former = names.removeValue(forKey: name), !names.values.contains(former) { left(former) }
        if let owner = try? BusName(new) {
            appeared(name, owner)
        } else if isIncomplete, names.count < Self.maximumNames / 2 {
            // There is room again for those that were left out.
            isIncomplete = false
            MainLoop.start { [weak self] in try? await self?.lookForNames() }
        }
        onCount?()
    }

    private func appeared(_ name: BusName, _ owner: BusName) {
        guard names.count < Self.maximumNames else {
            if !isIncomplete {
                adapterLog.warning(
                    "There are more players than \(Self.maximumNames). The others are ignored as long as that is so."
                )
            }
            isIncomplete = true
            return
        }
        let isNew = !names.values.contains(owner)
        names[name] = owner
        if isNew { meet(owner) }
    }

    private func left(_ owner: BusName) {
        meeting.remove(owner)
        if let player = players[owner] { forget(player) }
    }

    private func forget(_ player: PlayerObject) {
        players[player.owner] = nil
        player.end()
        onGone?(player)
        onCount?()
    }

    // MARK: Getting to know them

    private func meet(_ owner: BusName) {
        guard meeting.insert(owner).inserted else { return }
        service.bus.identify(owner) { [weak self] caller in
            MainLoop.start { [weak self] in
                let application = await self?.application(of: owner, caller.sandbox)
                guard let self, meeting.remove(owner) != nil else { return }
                add(owner, application ?? nil, caller.sandbox)
                onCount?()
            }
        }
    }

    private func add(_ owner: BusName, _ application: ApplicationID?, _ sandbox: Sandbox?) {
        guard let application, players[owner] == nil, names.values.contains(owner) else { return }
        let player = PlayerObject(service.bus, owner, application, isSandboxed: sandbox != nil)
        players[owner] = player
        if hearsSilent { player.hear() }
        player.onAsked = { [weak self] in self?.onCount?() }
        player.onReport = { [weak self, weak player] report in
            if let player { self?.onReport?(player, report) }
        }
        player.onGivenUp = { [weak self, weak player] reason in
            guard let self, let player else { return }
            adapterLog.warning("\(player.application) is left alone until it is started again: \(reason).")
            onGone?(player)
            onCount?()
        }
    }

    /// Which application the player `owner` is; nil if it is none that is installed, or none of ours.
    private func application(of owner: BusName, _ sandbox: Sandbox?) async -> ApplicationID? {
        guard let entry = await entry(of: owner), let id = try? ApplicationID(entry),
            Self.mayBe(id, sandbox), !service.isExcluded(id)
        else { return nil }
        let kind = try? await looks.find(.starting, of: entry) { PlayerEntry.look(id) }
        guard case .player? = kind else { return nil }
        return id
    }

    private func entry(of owner: BusName) async -> String? {
        let object = RemoteObject(service.bus.connection, owner, PlayerObject.path)
        for attempt in 1...Self.maximumAttempts where names.values.contains(owner) {
            do {
                return try await object.property(
                    "org.mpris.MediaPlayer2", "DesktopEntry", as: String.self, timeout: Self.patience)
            } catch {
                if attempt < Self.maximumAttempts { try? await MainLoop.sleep(for: .milliseconds(500)) }
            }
        }
        return nil
    }

    /// Whether what runs in `sandbox` may be called `application`: only by the name that its sandbox gives it.
    private static func mayBe(_ application: ApplicationID, _ sandbox: Sandbox?) -> Bool {
        let id = application.description
        switch sandbox {
        case nil: return true
        case .flatpak(let own): return !own.isEmpty && (id == own || id.hasPrefix(own + "."))
        case .snap(let own): return id == own || id.hasPrefix(own + "_")
        case .unknown: return false
        }
    }
}
