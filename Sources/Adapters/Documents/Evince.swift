// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// GNOME's viewer. Each document has a process of its own, which has no name on the bus: it says once that it has loaded the
/// document, and Evince's daemon knows which connection shows which document. The page is noted in GVfs' metadata.
@MainLoop
final class Evince: DocumentViewer {
    nonisolated let id: ApplicationID
    nonisolated let program = "evince"
    var onChange: (@MainLoop (ViewerWindow) -> Void)?
    var onGone: (@MainLoop (ViewerWindow) -> Void)?
    var onPresenceChange: (@MainLoop () -> Void)?

    /// A process, and what it says that it shows.
    private struct Process {
        let window: ViewerWindow
        var path: ViewedPath
        let watch: NameWatch
    }

    private let bus: Bus
    private let looks: FileLooks
    private var daemons: NamedOwners?
    private var token: SignalToken?
    private var processes: [BusName: Process] = [:]
    /// Those that it is not known of yet who they are, with what they say that they show.
    private var strangers: [BusName: ViewedPath] = [:]
    /// Where `gio` is, once it is known.
    private var gio: String?

    private static let window: InterfaceName = "org.gnome.evince.Window"
    private static let application: InterfaceName = "org.gnome.evince.Application"
    private static let daemon: BusName = "org.gnome.evince.Daemon"
    private static let daemonInterface: InterfaceName = "org.gnome.evince.Daemon"
    private static let daemonPath: ObjectPath = "/org/gnome/evince/Daemon"
    /// How many processes are followed at a time.
    private static let maximum = 64

    /// Evince as an application of the session that `bus` is of; `looks` is where what may block is done.
    init(_ bus: Bus, _ id: ApplicationID, _ looks: FileLooks) {
        (self.bus, self.id, self.looks) = (bus, id, looks)
    }

    func begin() {
        guard token == nil else { return }
        token = bus.connection.onSignal(Self.window) { [weak self] in self?.signalled($0) }
        for member in Self.members { bus.addMatch(.signal(Self.window, member)) }
        let daemons = NamedOwners(bus, of: id, within: Self.daemon) { [weak self] _, present in
            if present != nil { self?.look() }
            self?.onPresenceChange?()
        }
        self.daemons = daemons
        daemons.begin()
    }

    /// Its daemon outlives the last document by half a minute, and is what the next one finds: nobody says that Evince has begun
    /// then.
    var isPresent: Bool { !processes.isEmpty || daemons?.owners.isEmpty == false }

    private static let members: [MemberName] = ["DocumentLoaded", "Closed"]

    func end() {
        guard token != nil else { return }
        (token, processes, strangers) = (nil, [:], [:])
        for member in Self.members { bus.removeMatch(.signal(Self.window, member)) }
        daemons?.end()
        daemons = nil
    }

    // MARK: Processes

    private func signalled(_ signal: Message) {
        guard token != nil, let sender = signal.sender else { return }
        if signal.member == "Closed" { return gone(sender) }
        var reader = MessageReader(signal)
        guard signal.member == "DocumentLoaded", let url: String = try? reader.read(),
            let path = ViewedPath(url: url)
        else { return }
        found(sender, path)
    }

    private func found(_ owner: BusName, _ path: ViewedPath) {
        if let process = processes[owner] {
            processes[owner]?.path = path
            onChange?(process.window)
        } else if strangers[owner] != nil {
            strangers[owner] = path
        } else if processes.count + strangers.count < Self.maximum {
            strangers[owner] = path
            let watch = bus.watch(owner) { [weak self] in if $0 == nil { self?.gone(owner) } }
            bus.identify(owner) { [weak self] in self?.identified(owner, $0, watch) }
        }
    }

    private func identified(_ owner: BusName, _ caller: Caller, _ watch: NameWatch) {
        guard let path = strangers.removeValue(forKey: owner), NamedOwners.counts(caller, as: id) else {
            return
        }
        let window = ViewerWindow(id, caller, name: owner)
        processes[owner] = Process(window: window, path: path, watch: watch)
        onChange?(window)
    }

    private func gone(_ owner: BusName) {
        strangers[owner] = nil
        guard let process = processes.removeValue(forKey: owner) else { return }
        onGone?(process.window)
    }

    /// Finds the documents that were loaded before anybody listened.
    private func look() {
        MainLoop.start { [weak self, looks] in
            guard let program = self?.program else { return }
            let found = await looks.look(.namedDocument, of: "/proc") {
                EvinceProcesses.documents(of: program)
            }
            for path in found ?? [] {
                if let owner = await self?.owner(of: path), self?.token != nil { self?.found(owner, path) }
            }
        }
    }

    /// Who shows the document at `path`, as the daemon knows.
    private func owner(of path: ViewedPath) async -> BusName? {
        guard let daemon = daemons?.owners[Self.daemon], let url = path.url else { return nil }
        let reply = try? await RemoteObject(bus.connection, daemon.name, Self.daemonPath)
            .call(Self.daemonInterface, "FindDocument", output: "s", timeout: viewerPatience) {
                (writer) throws(DBusError) in
                try writer.write(url)
                // If nobody shows it, nobody is to be started that does.
                try writer.write(false)
            }
        guard let reply else { return nil }
        var reader = MessageReader(reply)
        return (try? reader.read(String.self)).flatMap { try? BusName($0) }
    }

    // MARK: What they show

    func shown(in window: ViewerWindow) async -> ShownPlace? {
        // Whoever is on the bus can say that it has loaded something.
        guard let path = processes[window.owner]?.path, await owner(of: path) == window.owner else {
            return nil
        }
        return .document(path)
    }

    func page(in window: ViewerWindow, of path: ViewedPath) async -> PageNumber? {
        if gio == nil {
            gio = await looks.look(.starting, of: "gio") { ProgramFiles.find("gio") } ?? nil
        }
        guard let gio else { return nil }
        return await GVfsMetadata.page(of: path, gio: gio)
    }

    func turn(_ window: ViewerWindow, to page: PageNumber) async -> Bool {
        let reply = try? await RemoteObject(bus.connection, window.owner, "/org/gnome/evince/Evince")
            .call(Self.application, "Reload", output: "", timeout: viewerPatience) {
                (writer) throws(DBusError) in
                try writer.write(["page-index": Value.uint32(UInt32(page.index))])
                try writer.write(UInt32(0))
            }
        return reply != nil
    }

    nonisolated func arguments(_ path: ViewedPath, _ page: PageNumber?) -> [String] {
        (page.map { ["--page-index=\($0)"] } ?? []) + ["--", path.text]
    }
}
