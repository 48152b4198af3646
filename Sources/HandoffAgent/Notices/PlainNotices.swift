// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop
internal import Platform

/// Notifications as most desktops have them (Desktop Notifications Specification). A server is started by the bus if it can
/// be, or waited for; one that does not answer, or dies, delays nothing.
@MainLoop
final class PlainNotices: NoticeServer {
    private static let name: BusName = "org.freedesktop.Notifications"
    private static let path: ObjectPath = "/org/freedesktop/Notifications"
    private static let interface: InterfaceName = "org.freedesktop.Notifications"
    private static let rule = MatchRule(sender: name, interface: interface, path: path)
    /// How long it may take to say what it can do, and to start.
    private static let (patience, patienceWithStart) = (Duration.seconds(5), Duration.seconds(25))
    /// How long it may take to show something. Only from its answer it is known how to take that back, and the bus answers
    /// for one that goes.
    private static let patienceWithShowing = Duration.seconds(1_000_000)

    /// What is to be shown in one place, and what is.
    private struct Place {
        var wanted: NoticePost?
        /// What was sent last.
        var sent: NoticePost?
        var isSending = false
        /// Whether what is being sent is to be taken back as soon as the server has given it a number.
        var isTakenBack = false
        /// What the server has shown last, and the number that it has given that; 0 for none.
        var shown: NoticePost?
        var number: UInt32 = 0
        /// What lets a program raise its window, which some servers send before they say what was pressed.
        var token = ""

        /// Forgets all that was sent and shown. What is being sent comes to be shown nevertheless.
        mutating func takeBack() {
            (sent, shown, number, token, isTakenBack) = (nil, nil, 0, "", isSending)
        }
    }

    weak var owner: (any NoticeServerOwner)?
    private let bus: Bus
    private var watch: OwnerWatch?
    private var tokens: [SignalToken] = []
    private var name: BusName?
    /// What the server can do; nil until it has said so.
    private var abilities: Set<String>?
    private var isAsking = false
    private let freedMemory = FreedMemory()
    private var places: [NoticeSlot: Place] = [:] {
        didSet { left?.note(Set(places.values.map(\.number)).subtracting([0])) }
    }
    private var left: LeftNotices?
    private var settling: [CheckedContinuation<Void, Never>] = []

    /// The one on `bus`.
    init(_ bus: Bus) {
        self.bus = bus
        bus.addMatch(Self.rule)
        tokens.append(bus.connection.onSignal(Self.interface) { [weak self] in self?.received($0) })
        left = LeftNotices(bus) { [weak self] in if $0 == self?.name { self?.close($1) } }
        watch = OwnerWatch(bus, Self.name, log: agentLog) { [weak self] in self?.ownerChanged($0) }
    }

    isolated deinit { bus.removeMatch(Self.rule) }

    var isThere: Bool { name != nil }
    var tellsOfClosing: Bool { true }

    func show(_ post: NoticePost) {
        places[post.notice.slot, default: Place()].wanted = post
        send(post.notice.slot)
    }

    func withdraw(_ slot: NoticeSlot) {
        close(places[slot]?.number ?? 0)
        forget(slot)
    }

    func settle() async {
        guard isSending else { return }
        await withCheckedContinuation { settling.append($0) }
    }

    /// Whether the server has yet to say by which number something can be taken back.
    private var isSending: Bool { places.values.contains { $0.isSending } }

    private func resumeIfSettled() {
        guard !isSending else { return }
        let waiting = settling
        settling = []
        for one in waiting { one.resume() }
    }

    private func forget(_ slot: NoticeSlot) {
        places[slot]?.wanted = nil
        places[slot]?.takeBack()
        if places[slot]?.isSending == false { places[slot] = nil }
    }

    // MARK: The server

    private func ownerChanged(_ new: BusName?) {
        (name, abilities, isAsking) = (new, nil, false)
        // What another server has shown is gone.
        places = places.compactMapValues { $0.wanted.map { Place(wanted: $0) } }
        resumeIfSettled()
        left?.serve(new)
        owner?.availabilityChanged()
        if new != nil { sendAll() }
    }

    private func sendAll() { for slot in places.keys { send(slot) } }

    /// Has the bus start a server, once for all that waits for one.
    private func startServer() {
        guard !isAsking else { return }
        isAsking = true
        MainLoop.start { [weak self, bus] in
            do {
                try await bus.startService(Self.name, timeout: Self.patienceWithStart)
            } catch {
                agentLog.debug(
                    "No program shows notifications yet: \(DBusError.converting(error).message)")
            }
            if let self, name == nil { isAsking = false }
        }
    }

    private func askAbilities(_ server: BusName) {
        guard !isAsking else { return }
        isAsking = true
        let remote = RemoteObject(bus.connection, server, Self.path)
        MainLoop.start { [weak self] in
            let reply = try? await remote.call(
                Self.interface, "GetCapabilities", output: "as", timeout: Self.patience
            ) { (_) throws(DBusError) in }
            guard let self, name == server else { return }
            isAsking = false
            var abilities: [String] = []
            if let reply {
                var reader = MessageReader(reply)
                abilities = (try? reader.read()) ?? []
            }
            self.abilities = PlainNotice.used(abilities)
            if let reply { freedMemory.freed(reply.marshalledSize) }
            sendAll()
        }
    }

    // MARK: Sending

    private func send(_ slot: NoticeSlot) {
        guard let place = places[slot], let post = place.wanted, !place.isSending, place.sent != post else {
            return
        }
        guard let server = name else { return startServer() }
        guard let abilities else { return askAbilities(server) }
        // Under one number there is but one question, so that nobody answers another one than what was seen.
        if let shown = place.shown, !post.canReplace(shown) {
            close(place.number)
            places[slot]?.takeBack()
        }
        places[slot]?.sent = post
        places[slot]?.isSending = true
        let request = PlainNotice(post, replacing: places[slot]?.number ?? 0, abilities)
        let remote = RemoteObject(bus.connection, server, Self.path)
        MainLoop.start { [weak self] in
            let reply = try? await remote.call(
                Self.interface, "Notify", output: "u", timeout: Self.patienceWithShowing
            ) { (writer) throws(DBusError) in try request.write(to: &writer) }
            var number: UInt32 = 0
            if let reply {
                var reader = MessageReader(reply)
                number = (try? reader.read()) ?? 0
            }
            self?.sent(slot, post, server, number)
        }
    }

    private func sent(_ slot: NoticeSlot, _ post: NoticePost, _ server: BusName, _ number: UInt32) {
        guard server == name, let place = places[slot], place.isSending else { return }
        places[slot]?.isSending = false
        if place.isTakenBack {
            places[slot]?.isTakenBack = false
            close(number)
        } else if number != 0 {
            places[slot]?.shown = post
            places[slot]?.number = number
        }
        if place.wanted == nil { places[slot] = nil } else { send(slot) }
        resumeIfSettled()
    }

    private func close(_ number: UInt32) {
        guard let name, number != 0 else { return }
        try? RemoteObject(bus.connection, name, Self.path).post(Self.interface, "CloseNotification") {
            (writer) throws(DBusError) in try writer.write(number)
        }
    }

    // MARK: Listening

    private func received(_ signal: Message) {
        // Others could send us such a signal too.
        guard let name, signal.sender == name else { return }
        var reader = MessageReader(signal)
        guard let number: UInt32 = try? reader.read(), number != 0,
            let slot = places.first(where: { $0.value.number == number })?.key
        else { return }
        switch signal.member {
        case "ActivationToken":
            let token = ActivationToken.checked(try? reader.read(String.self))
            places[slot]?.token = token ?? ""
        case "ActionInvoked":
            if let key: String = try? reader.read() { pressed(slot, key) }
        case "NotificationClosed":
            // What is being sent in its place would bring it back.
            forget(slot)
            owner?.closed(slot)
        default: break
        }
    }

    private func pressed(_ slot: NoticeSlot, _ key: String) {
        guard let place = places[slot], let press = place.shown.flatMap({ PlainNotice.press(key, in: $0) })
        else { return }
        owner?.pressed(slot, press, token: place.token)
    }
}
