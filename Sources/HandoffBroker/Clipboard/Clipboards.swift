// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// The clipboard of this session for peers, and those of peers for this session. Content only passes: nothing of it is kept but
/// what was sent to a peer, or is on its way to one.
@MainLoop
final class Clipboards {
    /// A content that a peer can have for a while.
    private struct Held {
        let content: ClipboardContent
        /// The id by which the peer opens it; nil if it fetches it.
        let id: ContinuationID?
        let end: Instant
    }

    private var news: ClipboardNews
    private let connection: Connection
    private let peers: KnownPeers
    private let activities: OwnActivities
    private let continued: ContinuedByPeers
    private let log: FetchLog
    private let preferences: Preferences
    private let clock: LoopClock
    /// Who reaches the desktop's clipboard; nil if nobody does.
    private var desktop: DesktopClipboard?
    /// What the user has sent last, and to whom.
    private var sent: (device: DeviceID, held: Held)?
    /// What is too large for an answer, until it is opened.
    private var opening: [DeviceID: Held] = [:]
    /// Which peers there is a link with.
    private var connected: Set<DeviceID> = []
    /// While this runs, peers are told nothing new.
    private var pause: LoopSource?
    private lazy var timer = DeadlineTimer(by: clock) { [weak self] in self?.forgetOld() }

    /// How long what was sent can be had.
    private static let sentTime = Duration.seconds(600)
    /// How long what is too large for an answer waits to be opened.
    private static let openingTime = Duration.seconds(30)
    /// How long there is at least between two times that peers are told of something new.
    private static let pace = Duration.seconds(1)

    /// Nobody has registered yet.
    init(
        _ connection: Connection, _ peers: KnownPeers, _ activities: OwnActivities,
        _ continued: ContinuedByPeers, _ log: FetchLog, _ preferences: Preferences, _ clock: LoopClock
    ) {
        (self.connection, self.peers, self.activities) = (connection, peers, activities)
        (self.continued, self.log, self.clock) = (continued, log, clock)
        self.preferences = preferences
        news = ClipboardNews(preferences.clipboard)
    }

    /// By which means the desktop's clipboard is reached, empty if by none.
    var desktopName: String { desktop?.name ?? "" }

    private func requireOn() throws(HandoffFailure) {
        guard activities.isEnabled else { throw .disabled }
        guard news.mode != .off else { throw .clipboardOff }
    }

    private func reached() throws(HandoffFailure) -> DesktopClipboard {
        guard let desktop else { throw .noClipboard }
        return desktop
    }

    // MARK: Whoever reaches the desktop's clipboard

    /// `owner` reaches it from now on.
    func register(_ owner: BusName, _ path: ObjectPath, _ name: String) {
        desktop = DesktopClipboard(connection, owner, path, name)
        news.lost()
        tellDesktop()
    }

    /// `owner` does not reach it any more.
    func unregister(_ owner: BusName) {
        guard desktop?.owner == owner else { return }
        desktop = nil
        news.lost()
        tellDesktop()
    }

    private func tellDesktop() {
        connection.objects.propertiesChanged(
            HandoffNames.brokerPath, ClipboardBinding.description.name, ["Desktop"], tell: .subscribers)
    }

    /// Something was copied here, of which this may go to peers.
    func changed(_ types: [String], by owner: BusName?) throws {
        guard let desktop, desktop.owner == owner else {
            throw DBusError.accessDenied(
                "Only who has registered last tells of the clipboard. Call Register first.")
        }
        news.changed(types.compactMap { ClipboardKind(rawValue: $0) }, at: clock.instant)
        if pause == nil { tellPeers() }
    }

    /// Tells the peers that follow what was copied here; what comes within the next second is told after it.
    private func tellPeers() {
        guard activities.isEnabled, let told = news.own?.time, news.news(at: clock.instant) != nil else {
            return
        }
        for device in connected { tell(device) }
        pause = .timer(after: Self.pace) { [weak self] in
            guard let self else { return }
            pause = nil
            if news.own.map({ $0.time != told }) == true { tellPeers() }
        }
    }

    private func tell(_ device: DeviceID) {
        guard activities.isEnabled, !news.isMuted(device), let latest = news.news(at: clock.instant) else {
            return
        }
        let announcement = ClipboardNews.Announcement(kinds: latest.kinds, age: latest.age, isSent: false)
        MainLoop.start { [peers] in
            do {
                try await peers.bridgePeer(device).clipboardChanged(about: announcement.about)
            } catch {
                brokerLog.debug(
                    "\(peers.name(of: device)) does not follow the clipboard: \(DBusError.converting(error).message)"
                )
            }
        }
    }

    // MARK: What the user here wants

    /// What is in the clipboard of `device`, or of it what is of `kind`.
    func read(_ device: DeviceID, _ kind: ClipboardKind?) async throws -> ClipboardContent {
        try requireOn()
        let content: ClipboardContent
        do {
            let answer = try await peers.bridgePeer(device).fetchClipboard(
                type: kind?.rawValue ?? "", timeout: Deadline.clipboard * 2)
            content = try await self.content(of: answer, device)
        } catch {
            throw HandoffFailure(routed: error)
        }
        guard let checked = try content.checked() else {
            throw wrong(device, "text that is no UTF-8, or an image that is no PNG")
        }
        try requireOn()
        return checked
    }

    private func content(of answer: [String: Value], _ device: DeviceID) async throws -> ClipboardContent {
        let fetched = try understood(device) { () throws(HandoffFailure) in try FetchedClipboard(answer) }
        let file: ClipboardFile
        switch fetched.bytes {
        case .here(let bytes): file = try ClipboardFile(bytes)
        case .document(let id):
            let reply = try await peers.bridgePeer(device).openDocument(
                continuation: id.description, timeout: Deadline.documentSilence * 2)
            file = try await ClipboardReceiving.file(from: reply.stream, size: fetched.size)
        }
        return try understood(device) { () throws(HandoffFailure) in try ClipboardContent(fetched.types, file)
        }
    }

    /// What `read` makes of what `device` has answered.
    private func understood<Result>(
        _ device: DeviceID, _ read: () throws(HandoffFailure) -> Result
    ) throws(HandoffFailure) -> Result {
        do throws(HandoffFailure) {
            return try read()
        } catch {
            throw error.code == .invalidArguments ? wrong(device, error.message) : error
        }
    }

    private func wrong(_ device: DeviceID, _ why: String) -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            "\(peers.name(of: device)) has not given its clipboard as it should: \(why). Copy it once more there."
        )
    }

    /// Puts what is in the clipboard of `device` into the one here.
    func paste(_ device: DeviceID) async throws -> ClipboardContent {
        let desktop = try reached()
        let content = try await read(device, nil)
        try await desktop.write(content, from: device)
        brokerLog.message("The clipboard has what was copied on \(peers.name(of: device)) now.")
        return content
    }

    /// Sends `given`, or what is in the clipboard here, to `device`.
    func send(_ given: ClipboardContent?, to device: DeviceID) async throws -> ClipboardContent {
        try requireOn()
        guard !news.isMuted(device) else {
            throw HandoffFailure(
                .accessDenied, "\(peers.name(of: device)) is muted here. Unmute it, then send it once more.")
        }
        let content: ClipboardContent
        if let given {
            guard let checked = try given.checked() else {
                throw HandoffFailure(
                    .invalidArguments,
                    "The content is not what its types say: give UTF-8 for text/plain, PNG for image/png.")
            }
            content = checked
        } else {
            content = try await reached().read(nil)
        }
        let announcement = ClipboardNews.Announcement(kinds: content.kinds, age: .zero, isSent: true)
        let held = Held(content: content, id: nil, end: clock.instant.advanced(by: Self.sentTime))
        let former = sent
        // It may be fetched before the peer has answered.
        sent = (device, held)
        do {
            try await peers.bridgePeer(device).clipboardChanged(
                about: announcement.about, timeout: Deadline.clipboard)
        } catch {
            if sent?.held.end == held.end { sent = former }
            throw HandoffFailure(routed: error)
        }
        setTimer()
        return content
    }

    // MARK: What peers want

    /// `device` says this of its clipboard.
    func announced(_ about: [String: Value], by device: DeviceID) async throws {
        guard activities.isEnabled else { throw HandoffFailure.disabledThere }
        let action = try news.announced(
            ClipboardNews.Announcement(about), by: device, at: clock.instant)
        switch action {
        case .ask:
            // Who has sent it is told if nobody is asked.
            guard let desktop, let action else { throw HandoffFailure.noClipboardThere }
            do {
                try await desktop.perform(action)
            } catch {
                throw HandoffFailure(routed: error)
            }
        case .follow, nil: perform(action)
        }
    }

    private func perform(_ action: ClipboardNews.Action?) {
        guard let action, let desktop else { return }
        MainLoop.start {
            do {
                try await desktop.perform(action)
            } catch {
                brokerLog.info("The clipboard does not follow: \(DBusError.converting(error).message)")
            }
        }
    }

    /// `device` fetches what is in the clipboard here, or what was sent to it.
    func fetch(_ type: String, by device: DeviceID, _ call: MethodCall) async throws -> [String: Value] {
        guard activities.isEnabled else { throw HandoffFailure.disabledThere }
        guard type.utf8.count <= ClipboardContent.maximumType else {
            throw HandoffFailure(
                .invalidArguments,
                "The type has more than \(ClipboardContent.maximumType) bytes. Give a MIME type.")
        }
        let kind = ClipboardKind(rawValue: type)
        guard type.isEmpty || kind != nil else { throw HandoffFailure.clipboardEmpty }
        try news.begin(device, at: clock.instant)
        defer { news.ended(device) }
        let content = try await content(kind, for: device)
        // Reading takes time, and much can happen meanwhile.
        guard activities.isEnabled, news.mode != .off, connected.contains(device) else {
            throw HandoffFailure.disabledThere
        }
        var generator = SystemRandomNumberGenerator()
        let answer = try FetchedClipboard.answer(content) { () -> ContinuationID in
            let id = ContinuationID(using: &generator)
            opening[device] = Held(
                content: content, id: id, end: clock.instant.advanced(by: Self.openingTime))
            setTimer()
            return id
        }
        call.afterReply { [log] in log.clipboardFetched(content.kinds, by: device) }
        return answer
    }

    private func content(_ kind: ClipboardKind?, for device: DeviceID) async throws -> ClipboardContent {
        if let (owner, held) = sent, owner == device, kind.map({ held.content.kinds.contains($0) }) ?? true {
            // It can be had once.
            sent = nil
            guard let kind else { return held.content }
            return try held.content.only(kind) ?? held.content
        }
        guard let desktop else { throw HandoffFailure.noClipboardThere }
        do {
            return try await desktop.read(kind)
        } catch {
            throw HandoffFailure(routed: error)
        }
    }

    /// The content that `device` opens by this id; nil if it is none of those.
    func open(_ id: ContinuationID, for device: DeviceID) async throws -> PeerOpenDocumentReply? {
        guard let held = opening[device], held.id == id, held.end > clock.instant else { return nil }
        opening[device] = nil
        guard activities.isEnabled, news.mode != .off else { throw HandoffFailure.disabledThere }
        return try await continued.openClipboard(held.content.file, id, for: device)
    }

    // MARK: Events

    /// `device` is a peer; there is a link with it, or not.
    func peerChanged(_ device: DeviceID, isConnected: Bool, isMuted: Bool) {
        news.setMuted(isMuted, device)
        guard isConnected else {
            connected.remove(device)
            return
        }
        connected.insert(device)
        tell(device)
    }

    /// `device` is no peer any more.
    func peerRemoved(_ device: DeviceID) {
        connected.remove(device)
        opening[device] = nil
        if sent?.device == device { sent = nil }
        perform(news.removed(device))
    }

    /// There is no bridge.
    func allPeersRemoved() { connected = [] }

    /// The user has chosen something else for the clipboard, or has switched Handoff off or on.
    func chosen() {
        news.mode = preferences.clipboard
        guard !activities.isEnabled || news.mode != .follow else { return }
        if !activities.isEnabled || news.mode == .off { (sent, opening) = (nil, [:]) }
        if let followed = news.followed?.device {
            news.lost()
            perform(.follow(followed, kinds: [], age: .zero))
        }
    }

    private func forgetOld() {
        let now = clock.instant
        if let held = sent?.held, held.end <= now { sent = nil }
        opening = opening.filter { $1.end > now }
        setTimer()
    }

    private func setTimer() {
        let ends = opening.values.map(\.end) + (sent.map { [$0.held.end] } ?? [])
        timer.set(ends.min()?.microseconds)
    }
}
