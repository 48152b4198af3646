// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The clipboard of GNOME, as Mutter has it for programs that show the desktop on another machine:
/// `org.gnome.Mutter.RemoteDesktop`. The session that this makes in Mutter is never started: it is for the
/// clipboard alone, and GNOME does not say that somebody looks on.
///
/// While the screen is locked Mutter ends such sessions and makes none: see ``again()``.
@MainLoop
final class MutterClipboard: ClipboardBackend {
    /// What is ours in the clipboard.
    private struct Owned {
        let number: Int
        let types: [String]
        let provide: ClipboardProvider
        /// Whether Mutter has answered that it has taken it.
        var isTaken = false
        /// What another program has had in the clipboard before that, if that was told meanwhile.
        var former: [String]?
    }

    private static let service: BusName = "org.gnome.Mutter.RemoteDesktop"
    private static let root: ObjectPath = "/org/gnome/Mutter/RemoteDesktop"
    private static let rootInterface: InterfaceName = "org.gnome.Mutter.RemoteDesktop"
    private static let interface: InterfaceName = "org.gnome.Mutter.RemoteDesktop.Session"
    /// How long Mutter may take to answer.
    private static let patience = Duration.seconds(5)
    /// How long it may take for each of the two calls that make a session.
    private static let openingPatience = Duration.milliseconds(2500)
    /// How many programs are given what is ours at a time.
    private static let maximumTransfers = 32
    /// How many readings may wait for others.
    private static let maximumReaders = 16

    let name = "GNOME"
    weak var user: (any ClipboardUser)?

    private let bus: Bus
    private var watch: OwnerWatch?
    private var token: SignalToken?
    /// The session in Mutter; nil while there is none.
    private var session: RemoteObject?
    private var rule: MatchRule?
    /// The number of the latest attempt to make a session: what an earlier one brings does not count.
    private var attempt = 0
    /// Whether it was told what is in the clipboard since there is the session.
    private var isTold = false
    /// Whether what is told from now on is new.
    private var isEnabled = false
    private var owned: Owned?
    private var ownings = 0
    private var transfers = 0
    private var isReading = false
    private var readers: [CheckedContinuation<Void, Never>] = []

    /// The clipboard of the Mutter on `bus`, the session's.
    init(_ bus: Bus) {
        self.bus = bus
        token = bus.connection.onSignal(Self.interface) { [weak self] in self?.received($0) }
    }

    isolated deinit { end() }

    // MARK: The session

    func begin() async -> Bool {
        let begun = attempt
        guard let owner = try? await bus.identifiedOwner(of: Self.service), owner.sandbox == nil,
            let name = owner.name, attempt == begun, await open(name)
        else { return false }
        watch = OwnerWatch(bus, Self.service, log: agentLog) { [weak self] in self?.ownerChanged($0) }
        return true
    }

    func end() {
        attempt += 1
        watch = nil
        guard let session else { return }
        drop()
        stop(session)
    }

    /// Mutter 43 stops nothing that was not started. Nothing goes on in that session any more, and it ends with our connection
    /// to the bus.
    private func stop(_ session: RemoteObject) {
        for member: MemberName in ["DisableClipboard", "Stop"] {
            try? session.post(Self.interface, member) { (_) throws(DBusError) in }
        }
    }

    /// Tries to have the clipboard again, if it was lost. To be called whenever there is a reason why that
    /// may succeed, as when the screen was unlocked.
    func again() {
        guard session == nil, let owner = watch?.name else { return }
        MainLoop.start { [weak self] in _ = await self?.open(owner) }
    }

    private func ownerChanged(_ owner: BusName?) {
        if let session, session.destination == owner { return }
        attempt += 1
        lose()
        again()
    }

    /// - Returns: whether there is a session now, the clipboard of which can be had.
    private func open(_ owner: BusName) async -> Bool {
        attempt += 1
        let number = attempt
        do {
            let reply = try await RemoteObject(bus.connection, owner, Self.root).call(
                Self.rootInterface, "CreateSession", output: "o", timeout: Self.openingPatience
            ) { (_) throws(DBusError) in }
            var reader = MessageReader(reply)
            let made = RemoteObject(bus.connection, owner, try reader.read())
            guard number == attempt else {
                stop(made)
                return false
            }
            follow(made, owner)
            _ = try await made.call(
                Self.interface, "EnableClipboard", output: "", timeout: Self.openingPatience
            ) { (writer) throws(DBusError) in try writer.write([:] as [String: Value]) }
            guard number == attempt, session != nil else { return false }
            // What there is was told before the answer; nothing is not told.
            if !isTold { user?.clipboardChanged([], isNew: false) }
            isTold = true
            isEnabled = true
            return true
        } catch {
            let reason = DBusError.converting(error).message
            agentLog.info("Mutter does not give access to the clipboard now: \(reason)")
            guard number == attempt else { return false }
            if let session { stop(session) }
            // Whoever was told what is there is told that it is lost.
            if isTold { lose() } else { drop() }
            return false
        }
    }

    private func follow(_ made: RemoteObject, _ owner: BusName) {
        drop()
        let rule = MatchRule(sender: owner, interface: Self.interface, path: made.path)
        bus.addMatch(rule)
        (session, self.rule, isTold, isEnabled) = (made, rule, false, false)
    }

    private func drop() {
        if let rule { bus.removeMatch(rule) }
        (session, rule, owned) = (nil, nil, nil)
    }

    private func lose() {
        guard session != nil else { return }
        drop()
        user?.clipboardLost()
    }

    // MARK: What Mutter tells

    private func received(_ signal: Message) {
        guard let session, signal.sender == session.destination, signal.path == session.path else { return }
        var reader = MessageReader(signal)
        switch signal.member {
        case "SelectionOwnerChanged":
            if let options: [String: Value] = try? reader.read() { changed(options) }
        case "SelectionTransfer":
            if let type: String = try? reader.read(), let serial: UInt32 = try? reader.read() {
                transfer(type, serial, session)
            }
        case "Closed": lose()
        default: break
        }
    }

    private func changed(_ options: [String: Value]) {
        isTold = true
        if case .boolean(true)? = options["session-is-owner"] { return }
        let types = Self.types(options["mime-types"])
        if let owned, !owned.isTaken {
            // Mutter tells things in their order: this was there before what is ours.
            self.owned?.former = types
            return
        }
        owned = nil
        user?.clipboardChanged(types, isNew: isEnabled)
    }

    /// What counts of a list of types, which is the only field of a structure, or stands alone.
    private static func types(_ value: Value?) -> [String] {
        var list = value
        if case .structure(let structure)? = value { list = structure.fields.first }
        let types = list?.strings ?? []
        guard types.count <= ClipboardTypes.maximum else { return [] }
        return types.filter { $0.utf8.count <= ClipboardTypes.maximumLength }
    }

    // MARK: Reading

    func read(_ type: String) async throws -> ClipboardFile {
        // Mutter refuses whoever reads twice at a time.
        if isReading {
            guard readers.count < Self.maximumReaders else { throw ClipboardPipe.busy }
            await withCheckedContinuation { readers.append($0) }
        }
        isReading = true
        defer {
            if readers.isEmpty { isReading = false } else { readers.removeFirst().resume() }
        }
        guard let session else { throw ClipboardPipe.unfinished }
        let reply: Message
        do {
            reply = try await session.call(
                Self.interface, "SelectionRead", output: "h", timeout: Self.patience
            ) { (writer) throws(DBusError) in try writer.write(type) }
        } catch {
            agentLog.debug("Mutter does not give the clipboard: \(DBusError.converting(error).message)")
            throw ClipboardPipe.unfinished
        }
        var reader = MessageReader(reply)
        return try await ClipboardPipe.read(reader.readFileDescriptor())
    }

    // MARK: Owning

    func own(_ types: [String], _ provide: @escaping ClipboardProvider) async -> Bool {
        guard let session else { return false }
        ownings += 1
        let number = ownings
        owned = Owned(number: number, types: types, provide: provide)
        return await take(types, number, session)
    }

    private func take(_ types: [String], _ number: Int, _ session: RemoteObject) async -> Bool {
        do {
            _ = try await session.call(
                Self.interface, "SetSelection", output: "", timeout: Self.patience
            ) { (writer) throws(DBusError) in
                try writer.write(["mime-types": .strings(types)] as [String: Value])
            }
            guard owned?.number == number else { return false }
            owned?.isTaken = true
            return true
        } catch {
            guard let owned, owned.number == number else { return false }
            agentLog.info("Mutter does not take the clipboard: \(DBusError.converting(error).message)")
            self.owned = nil
            user?.clipboardChanged(owned.former ?? [], isNew: true)
            return false
        }
    }

    func disown() {
        guard owned != nil, let session else { return }
        owned = nil
        try? session.post(Self.interface, "SetSelection") { (writer) throws(DBusError) in
            try writer.write([:] as [String: Value])
        }
    }

    private func transfer(_ type: String, _ serial: UInt32, _ session: RemoteObject) {
        guard let owned, owned.isTaken else {
            // Before it answers, Mutter itself wants a copy for later: it would be fetched whether or not
            // anybody ever pastes it.
            return ended(serial, session, isWritten: false)
        }
        guard owned.types.contains(type), transfers < Self.maximumTransfers else {
            return refuse(serial, session)
        }
        transfers += 1
        MainLoop.start { [weak self] in
            let file = await owned.provide(type)
            await self?.give(file, serial, session)
        }
    }

    private func give(_ file: ClipboardFile?, _ serial: UInt32, _ session: RemoteObject) async {
        do {
            guard let file else { throw ClipboardPipe.unfinished }
            let reply = try await session.call(
                Self.interface, "SelectionWrite", output: "h", timeout: Self.patience
            ) { (writer) throws(DBusError) in try writer.write(serial) }
            var reader = MessageReader(reply)
            try ClipboardPipe.write(file, to: reader.readFileDescriptor()) { [weak self] isWritten in
                self?.transfers -= 1
                self?.ended(serial, session, isWritten: isWritten)
            }
        } catch {
            agentLog.debug("The clipboard is not given: \(error)")
            transfers -= 1
            refuse(serial, session)
        }
    }

    /// Mutter 43 does nothing when it is told that nothing was written, and whoever pastes would wait for 15
    /// seconds. So the pipe is asked for first, without an answer, which closes it at once.
    private func refuse(_ serial: UInt32, _ session: RemoteObject) {
        try? session.post(Self.interface, "SelectionWrite") { (writer) throws(DBusError) in
            try writer.write(serial)
        }
        ended(serial, session, isWritten: false)
    }

    private func ended(_ serial: UInt32, _ session: RemoteObject, isWritten: Bool) {
        try? session.post(Self.interface, "SelectionWriteDone") { (writer) throws(DBusError) in
            try writer.write(serial)
            try writer.write(isWritten)
        }
    }
}
