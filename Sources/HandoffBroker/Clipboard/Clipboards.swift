// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// The clipboard of this session for peers, and those of peers for this session. Content only passes, but for what waits until a
/// peer has it (``HeldClipboards``).
@MainLoop
final class Clipboards {
    private var news: ClipboardNews
    private var held = HeldClipboards() {
        didSet { timer.set(held.nextTime?.microseconds) }
    }
    private let connection: Connection
    private let peers: KnownPeers
    private let activities: OwnActivities
    private let continued: ContinuedByPeers
    private let log: FetchLog
    private let preferences: Preferences
    private let files: ClipboardFiles
    private let clock: LoopClock
    /// Who reaches the desktop's clipboard; nil if nobody does.
    private var desktop: DesktopClipboard?
    /// What is on its way to peers as a document.
    private var sending: [DeviceID: ContinuationID] = [:]
    /// Which peers there is a link with.
    private var connected: Set<DeviceID> = []
    /// While this runs, peers are told nothing new.
    private var pause: LoopSource?
    private lazy var timer = DeadlineTimer(by: clock) { [weak self] in self?.advance() }

    /// How long there is at least between two times that peers are told of something new.
    private static let pace = Duration.seconds(1)

    /// Nobody has registered yet.
    init(
        _ connection: Connection, _ peers: KnownPeers, _ activities: OwnActivities,
        _ continued: ContinuedByPeers, _ log: FetchLog, _ preferences: Preferences, _ files: ClipboardFiles,
        _ clock: LoopClock
    ) {
        (self.connection, self.peers, self.activities) = (connection, peers, activities)
        (self.continued, self.log, self.clock) = (continued, log, clock)
        (self.preferences, self.files) = (preferences, files)
        news = ClipboardNews(preferences.clipboard)
    }

    /// By which means the desktop's clipboard is reached, empty if by none.
    var desktopName: String { desktop?.name ?? "" }

    private func requireOn() throws(HandoffFailure) {
        guard activities.isEnabled else { throw .disabled }
        guard news.mode != .off else { throw .clipboardOff }
    }

    // MARK: Whoever reaches the desktop's clipboard

    /// `owner` reaches it from now on.
    func register(_ owner: BusName, _ path: ObjectPath, _ name: String) {
        set(DesktopClipboard(connection, owner, path, name))
    }

    /// `owner` does not reach it any more.
    func unregister(_ owner: BusName) {
        if desktop?.owner == owner { set(nil) }
    }

    private func set(_ new: DesktopClipboard?) {
        desktop = new
        news.forget()
        connection.objects.propertiesChanged(
            HandoffNames.brokerPath, ClipboardBinding.description.name, ["Desktop"], tell: .subscribers)
    }

    /// Only who has registered last may do what follows.
    /// - Throws: `AccessDenied` if `caller` is not that one.
    func requireDesktop(_ caller: BusName?) throws(DBusError) {
        guard let desktop, desktop.owner == caller else {
            throw .accessDenied("Only who has registered last has to do with that. Call Register first.")
        }
    }

    /// Something was copied here, of which this may go to peers.
    func changed(_ types: [String]) {
        var generator = SystemRandomNumberGenerator()
        let kinds = types.compactMap { ClipboardKind(rawValue: $0) }
        news.changed(kinds, at: clock.instant, lot: generator.next())
        if pause == nil { tellPeers() }
    }

    /// Tells the peers that follow what was copied here; what comes within the next second is told after it.
    private func tellPeers() {
        guard let told = news.own?.time else { return }
        for device in connected { tell(device) }
        pause = .timer(after: Self.pace) { [weak self] in
            guard let self else { return }
            pause = nil
            if news.own.map({ $0.time != told }) == true { tellPeers() }
        }
    }

    private func tell(_ device: DeviceID) {
        if let latest = news.news(at: clock.instant) { tell(device, latest) }
    }

    private func tell(_ device: DeviceID, _ announcement: ClipboardNews.Announcement) {
        guard activities.isEnabled, !news.isMuted(device) else { return }
        MainLoop.start { [peers] in
            do {
                try await peers.bridgePeer(device).clipboardChanged(about: announcement.about)
            } catch {
                let message = DBusError.converting(error).message
                brokerLog.debug("\(peers.name(of: device)) does not follow the clipboard: \(message)")
            }
        }
    }

    // MARK: What the user here wants

    /// What `device` has sent here, or what is in its clipboard, or of that what is of `kind`.
    /// - Parameter isFollowed: whether it is what was copied there that is wanted, whatever was sent.
    func read(_ device: DeviceID, _ kind: ClipboardKind?, isFollowed: Bool = false) async throws
        -> ClipboardContent
    {
        try requireOn()
        let sent = isFollowed ? nil : news.sent(by: device, at: clock.instant)
        do {
            let fetcher = ClipboardFetcher(peers: peers, files: files, device: device)
            let content = try await fetcher.content(kind, sent: sent)
            try requireOn()
            if sent != nil { news.sentIsOver(device) }
            return content
        } catch {
            let failure = HandoffFailure(routed: error)
            if sent != nil, failure.code == .offerWithdrawn { news.sentIsOver(device) }
            throw failure
        }
    }

    /// Puts what is in the clipboard of `device`, or was sent by it, into the one here.
    func paste(_ device: DeviceID) async throws -> ClipboardContent {
        guard let desktop else { throw HandoffFailure.noClipboard }
        let content = try await read(device, nil)
        try await desktop.write(content, from: device)
        news.pasted(at: clock.instant)
        brokerLog.message("The clipboard has what is from \(peers.name(of: device)) now.")
        return content
    }

    /// Sends `given`, or what is in the clipboard here, to `device`.
    func send(_ given: ClipboardContent?, to device: DeviceID) async throws -> ClipboardContent {
        try requireSending(to: device)
        let content: ClipboardContent
        if let given {
            guard let checked = try given.checked() else {
                throw HandoffFailure(
                    .invalidArguments,
                    "The content is not what its types say: give UTF-8 for text/plain, PNG for image/png.")
            }
            content = checked
        } else {
            guard let desktop else { throw HandoffFailure.noClipboard }
            content = try await desktop.read(nil)
            try requireSending(to: device)
        }
        let id = try held.send(content, to: device, at: clock.instant)
        do {
            let announcement = ClipboardNews.Announcement(kinds: content.kinds, sent: id)
            try await peers.bridgePeer(device).clipboardChanged(
                about: announcement.about, timeout: Deadline.clipboard)
        } catch {
            held.end(id, of: device)
            throw HandoffFailure(routedToPeer: error)
        }
        return content
    }

    private func requireSending(to device: DeviceID) throws(HandoffFailure) {
        try requireOn()
        guard !news.isMuted(device) else {
            throw HandoffFailure(
                .accessDenied, "\(peers.name(of: device)) is muted here. Unmute it, then send it once more.")
        }
    }

    // MARK: What peers want

    /// `device` says this of its clipboard.
    func announced(_ about: [String: Value], by device: DeviceID) async throws {
        guard activities.isEnabled else { throw HandoffFailure.disabledThere }
        let action = try news.announced(ClipboardNews.Announcement(about), by: device, at: clock.instant)
        guard case .ask(_, _)? = action, let action else { return perform(action) }
        // Who has sent it is told if nobody is asked.
        guard let desktop else { throw HandoffFailure.noClipboardThere }
        do throws(HandoffFailure) {
            try await desktop.perform(action)
        } catch {
            throw error.code == .notSupported ? .noClipboardThere : error
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

    /// `device` fetches what was sent to it under the id `sent`, or what is in the clipboard here if that is empty.
    func fetch(
        _ type: String, _ sent: String, by device: DeviceID, _ call: MethodCall
    ) async throws -> [String: Value] {
        guard activities.isEnabled else { throw HandoffFailure.disabledThere }
        guard type.utf8.count <= ClipboardContent.maximumType else {
            throw HandoffFailure(
                .invalidArguments,
                "The type has more than \(ClipboardContent.maximumType) bytes. Give a MIME type.")
        }
        let kind = ClipboardKind(rawValue: type)
        guard type.isEmpty || kind != nil else { throw HandoffFailure.clipboardEmpty }
        let id = sent.isEmpty ? nil : try ContinuationID(checking: sent)
        try news.begin(device, at: clock.instant)
        defer { news.ended(device) }
        let content = try await content(kind, id, for: device)
        guard let (outgoing, folders) = try await files.outgoing(content) else {
            throw HandoffFailure.clipboardEmpty
        }
        // Reading takes time, and much can happen meanwhile.
        try check(device)
        var document: ContinuationID?
        if outgoing.file.size > FetchedClipboard.maximumHere {
            document = try held.offer(outgoing, to: device, at: clock.instant)
        }
        let answer = try FetchedClipboard.answer(outgoing, folders: folders, document: document)
        call.afterReply { [weak self] in
            guard let self else { return }
            if let id { held.end(id, of: device) }
            log.clipboardFetched(outgoing.kinds, by: device)
        }
        return answer
    }

    private func check(_ device: DeviceID) throws(HandoffFailure) {
        guard activities.isEnabled else { throw .disabledThere }
        try news.check(device)
        guard connected.contains(device) else {
            throw HandoffFailure(.connectionUnavailable, "The link was lost. Try again.")
        }
    }

    private func content(
        _ kind: ClipboardKind?, _ sent: ContinuationID?, for device: DeviceID
    ) async throws -> ClipboardContent {
        if let sent {
            let content = held.sent(sent, to: device, at: clock.instant)
            guard let content = try kind.map({ try content?.only($0) }) ?? content else {
                throw HandoffFailure(
                    .offerWithdrawn, "What was sent is no longer available. Have it sent once more.")
            }
            return content
        }
        guard let desktop else { throw HandoffFailure.noClipboardThere }
        do throws(HandoffFailure) {
            return try await desktop.read(kind)
        } catch {
            throw error.code == .notSupported ? .noClipboardThere : error
        }
    }

    /// The content that `device` opens by this id; nil if it is none of those.
    func open(_ id: ContinuationID, for device: DeviceID) async throws -> PeerOpenDocumentReply? {
        guard let content = held.offered(id, to: device, at: clock.instant) else { return nil }
        try check(device)
        sending[device] = id
        let reply = try await continued.openClipboard(content.file, id, for: device) { [weak self] in
            self?.sending[device] == id
        }
        held.end(id, of: device)
        return reply
    }

    // MARK: Events

    /// `device` is a peer; there is a link with it, or not.
    func peerChanged(_ device: DeviceID, isConnected: Bool, isMuted: Bool) {
        perform(news.setMuted(isMuted, device))
        if isMuted { stop(device) }
        guard isConnected else {
            connected.remove(device)
            return
        }
        connected.insert(device)
        tell(device)
    }

    /// `device` does not want what it opens by this id any more.
    func released(_ id: ContinuationID, by device: DeviceID) {
        if sending[device] == id { stop(device) }
    }

    /// `device` is no peer any more.
    func peerRemoved(_ device: DeviceID) {
        connected.remove(device)
        stop(device)
        perform(news.removed(device))
    }

    /// There is no bridge.
    func allPeersRemoved() { connected = [] }

    /// The user has chosen something else for the clipboard, or has switched Handoff off or on.
    func chosen() {
        let former = news.mode
        let mode = activities.isEnabled ? preferences.clipboard : .off
        perform(news.choose(mode))
        guard former != mode else { return }
        if mode == .off { for device in Set(sending.keys).union(connected) { stop(device) } }
        guard former == .follow else { return }
        // What is here is not to be followed any more.
        for device in connected { tell(device, ClipboardNews.Announcement(kinds: [])) }
    }

    /// Nothing of the clipboard goes to `device` any more.
    private func stop(_ device: DeviceID) {
        held.end(device)
        if let id = sending.removeValue(forKey: device) { continued.stopClipboard(id, of: device) }
    }

    private func advance() { held.advance(to: clock.instant) }
}
