// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// A player on the bus (MPRIS). It is read when it says that something has changed, at most ten times a second, and given
/// up if it says so without end.
@MainLoop
final class PlayerObject {
    /// Its unique name.
    let owner: BusName
    /// Which application it is.
    let application: ApplicationID
    /// Whether it runs in a sandbox: then it is not known which files it can read.
    let isSandboxed: Bool
    /// What it has said last; nil if it has not said anything yet.
    private(set) var report: PlayerReport?
    /// Whether it has been asked what it says, whatever came of that.
    private(set) var hasBeenAsked = false
    /// Called once when ``hasBeenAsked`` is true.
    var onAsked: (@MainLoop () -> Void)?
    /// Called with what it says, whenever that may be different.
    var onReport: (@MainLoop (PlayerReport) -> Void)?
    /// Called once when it is given up.
    var onGivenUp: (@MainLoop (String) -> Void)?

    /// What players own a name that begins like this for.
    static let namespace: BusName = "org.mpris.MediaPlayer2"
    /// Where each serves its objects.
    static let path: ObjectPath = "/org/mpris/MediaPlayer2"
    static let interface: InterfaceName = "org.mpris.MediaPlayer2.Player"

    private static let patience = Duration.milliseconds(1500)
    private static let interval = Duration.milliseconds(100)
    /// How many bytes what it says may take. Some send the picture of an album along.
    private static let maximumReply = 1 << 20

    private let bus: Bus
    private let object: RemoteObject
    private let rule: MatchRule
    /// Whether it never says what it plays.
    let isSilent: Bool
    private var isHeard = false
    /// How often it may say that something has changed: more than when somebody drags the volume about.
    private var rate = EventRate(limit: 600, period: .seconds(10))
    private var isReading = false
    private var isStale = false
    /// Whether nobody listens to it any more.
    private(set) var isGivenUp = false
    private var lastRead: Int64?
    private var timer: LoopSource?

    /// The player that has the unique name `owner`.
    init(_ bus: Bus, _ owner: BusName, _ application: ApplicationID, isSandboxed: Bool) {
        (self.bus, self.owner, self.application) = (bus, owner, application)
        self.isSandboxed = isSandboxed
        object = RemoteObject(bus.connection, owner, Self.path)
        rule = MatchRule(
            sender: owner, interface: .properties, member: "PropertiesChanged", path: Self.path,
            firstArgument: "org.mpris.MediaPlayer2.Player")
        // Who does not say what it plays says the rest for nothing.
        isSilent = KnownPlayer.find(application)?.tellsAddress == false
        if !isSilent { hear() }
        changed()
    }

    /// From now on it is heard when it says that something has changed.
    func hear() {
        guard !isHeard, !isGivenUp else { return }
        isHeard = true
        bus.addMatch(rule)
        changed()
    }

    /// It is heard no longer.
    func ignore() {
        if isHeard { bus.removeMatch(rule) }
        isHeard = false
    }

    /// Nobody listens to it any more.
    func end() {
        ignore()
        isGivenUp = true
        timer?.cancel()
        timer = nil
        (onAsked, onReport, onGivenUp) = (nil, nil, nil)
    }

    private func giveUp(_ reason: String) {
        guard !isGivenUp else { return }
        let told = onGivenUp
        end()
        told?(reason)
    }

    /// Has what it has said last come again, unless nobody listens to it any more.
    func repeatReport() {
        if let report { onReport?(report) }
    }

    // MARK: Reading

    /// It says that something has changed.
    func changed() {
        guard !isGivenUp else { return }
        guard rate.count(at: .now) else { return giveUp("it says all the time that something has changed") }
        isStale = true
        readSoon()
    }

    private func readSoon() {
        guard isStale, !isReading, timer == nil, !isGivenUp else { return }
        let wait = lastRead.map { Self.interval - .microseconds(MainLoop.now - $0) } ?? .zero
        guard wait > .zero else {
            MainLoop.start { [weak self] in try? await self?.read() }
            isReading = true
            return
        }
        timer = .timer(after: wait) { [weak self] in
            self?.timer = nil
            self?.readSoon()
        }
    }

    /// Reads what it says now.
    @discardableResult
    func read() async throws -> PlayerReport {
        (isReading, isStale, lastRead) = (true, false, MainLoop.now)
        defer {
            isReading = false
            if !hasBeenAsked {
                hasBeenAsked = true
                onAsked?()
            }
            readSoon()
        }
        let reply = try await object.call(.properties, "GetAll", output: "a{sv}", timeout: Self.patience) {
            (writer) throws(DBusError) in try writer.write(Self.interface.text)
        }
        guard reply.marshalledSize <= Self.maximumReply else {
            giveUp("what it says of itself has no end")
            throw HandoffFailure(
                .limitsExceeded,
                tr(
                    "{player} says more about itself than can be read. Restart it.",
                    ["player": application.description]))
        }
        var reader = MessageReader(reply)
        let report = PlayerReport(try reader.read(), seesFiles: !isSandboxed)
        guard !isGivenUp else { throw CancellationError() }
        self.report = report
        onReport?(report)
        return report
    }

    /// Where it is in what it plays, in microseconds; nil if it does not say, or says what cannot be.
    func position() async throws -> Int64? {
        let reply = try await object.call(.properties, "Get", output: "v", timeout: Self.patience) {
            (writer) throws(DBusError) in
            try writer.write(Self.interface.text)
            try writer.write("Position")
        }
        guard reply.marshalledSize <= 1024 else { return nil }
        var reader = MessageReader(reply)
        return report?.checked(position: PlayerReport.time(try reader.readAnyValue()))
    }

    // MARK: Steering

    /// Plays on.
    func play() async throws { try await call("Play") }

    /// Plays no longer, and can go on.
    func pause() async throws { try await call("Pause") }

    /// Plays `address` from its beginning.
    func open(_ address: MediaAddress) async throws {
        let url = address.url
        _ = try await object.call(Self.interface, "OpenUri", output: "", timeout: .seconds(5)) {
            (writer) throws(DBusError) in try writer.write(url)
        }
    }

    /// Goes to `position`, in microseconds, in what it plays.
    func go(to position: Int64) async throws {
        if let track = report?.track {
            _ = try await object.call(Self.interface, "SetPosition", output: "", timeout: Self.patience) {
                (writer) throws(DBusError) in
                try writer.write(track)
                try writer.write(position)
            }
        } else {
            // It has no name for what it plays, so that only from where it is the way can be said.
            let offset = position - (try await self.position() ?? 0)
            _ = try await object.call(Self.interface, "Seek", output: "", timeout: Self.patience) {
                (writer) throws(DBusError) in try writer.write(offset)
            }
        }
    }

    private func call(_ member: MemberName) async throws {
        _ = try await object.call(Self.interface, member, output: "", timeout: Self.patience) { _ in }
    }
}
