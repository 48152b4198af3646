// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// The clipboard of the desktop, as the broker has it read and written (`org.example.Handoff.DesktopClipboard`).
///
/// Here it is decided what may leave this session and enter it: nothing while it is locked, nothing that was copied in an
/// application that the user keeps out, no secrets, and nothing that Handoff has brought here itself.
@MainLoop
final class AgentClipboard {
    /// What is in the clipboard.
    private enum Content {
        /// What another program has put there, while this application had the focus.
        case copied([String], in: ApplicationID?)
        /// What the user has pasted from another device, or what a clipboard manager has kept of such.
        case brought
        /// What is had from a peer when somebody pastes it.
        case followed(Followed)
    }

    /// What was copied on a peer.
    private final class Followed {
        let device: String
        /// When the clipboard was taken over, in microseconds of ``MainLoop/now``.
        let begin = MainLoop.now
        /// What was pasted of it, and is being fetched to be: once for each kind.
        var fetched: [ClipboardKind: Task<ClipboardFile?, Never>] = [:]
        /// Gives it up.
        var end: LoopSource?

        init(_ device: String) { self.device = device }
    }

    /// Called when something of a device was put into the clipboard, because the user wanted that.
    var onPasted: @MainLoop (ClipboardSummary, _ deviceID: String) -> Void = { _, _ in }
    /// Called when the user of a device has sent something.
    var onAsked: @MainLoop ([ClipboardKind], _ deviceID: String) -> Void = { _, _ in }

    private let bus: Bus
    private let focus: any FocusSource
    private let isUnlocked: @MainLoop () -> Bool
    /// The ways that a desktop may have, the best first.
    private let ways: [any ClipboardBackend]
    private var backend: (any ClipboardBackend)?
    private var isLooking = false
    private var content = Content.copied([], in: nil)
    private var mode = ClipboardMode.off
    private var excluded: Set<String> = []
    /// The broker that was told who reaches the clipboard.
    private var broker: Daemon?
    /// Whether the broker is being told of a change, and whether there is a later one.
    private var (isTelling, isOutdated) = (false, false)
    /// Until then, in microseconds of ``MainLoop/now``, a clipboard manager may put back what it has kept.
    private var keptUntil: Int64 = 0

    /// What is fetched so soon after the clipboard was taken over is for no user who pastes.
    private static let tooSoon: Int64 = 10_000
    /// How long a clipboard manager may take to make what was brought here its own, and to put it back once it is given up.
    private static let (taking, keeping): (Int64, Int64) = (100_000, 1_000_000)

    /// The clipboard by the first of `ways` that the desktop has. What was copied where is known by `focus`.
    init(
        _ bus: Bus, _ focus: any FocusSource, _ ways: [any ClipboardBackend],
        isUnlocked: @escaping @MainLoop () -> Bool
    ) {
        (self.bus, self.focus, self.ways, self.isUnlocked) = (bus, focus, ways, isUnlocked)
        for way in ways { way.user = self }
    }

    /// What the desktop that the environment names may have.
    static func ways(_ bus: Bus) -> [any ClipboardBackend] {
        // Where windows are those of Wayland, X11 has but the clipboard of a part of them.
        X11Focus.isX11 ? [X11Clipboard(), MutterClipboard(bus)] : [WaylandClipboard(), MutterClipboard(bus)]
    }

    /// The broker says this, or there is none.
    func update(_ broker: Daemon?, _ preferences: [String: Value]?) {
        excluded = Set(preferences?.texts("ExcludedApplications") ?? [])
        let former = mode
        mode = preferences.flatMap { try? ClipboardMode($0.text("Clipboard")) } ?? .off
        if mode != .follow, former == .follow { giveUp() }
        if mode == .off {
            end()
        } else if backend == nil {
            look()
        }
        guard broker?.name != self.broker?.name else { return }
        self.broker = broker
        if backend != nil { register() }
    }

    /// The session was unlocked.
    func unlocked() {
        if let mutter = backend as? MutterClipboard {
            mutter.again()
        } else if backend == nil, mode != .off {
            look()
        }
    }

    /// Gives up what is owned. To be called before the program ends, and while the user wants nothing of the kind.
    func end() {
        guard let backend else { return }
        self.backend = nil
        content = .copied([], in: nil)
        backend.end()
        call { try await $0.unregister() }
    }

    private func look() {
        guard !isLooking else { return }
        isLooking = true
        MainLoop.start { [weak self, ways] in
            for way in ways {
                guard await way.begin() else { continue }
                self?.found(way)
                return
            }
            agentLog.debug("Nothing reaches the clipboard of this desktop.")
            self?.isLooking = false
        }
    }

    private func found(_ way: any ClipboardBackend) {
        isLooking = false
        guard mode != .off else { return way.end() }
        backend = way
        agentLog.debug("The clipboard is that of \(way.name).")
        register()
    }

    private func register() {
        guard let backend else { return }
        let name = backend.name
        call { try await $0.register(clipboard: HandoffNames.agentClipboard, desktop: name) }
    }

    private func call(_ body: @escaping @MainLoop @Sendable (ClipboardProxy) async throws -> Void) {
        guard let broker else { return }
        let proxy = ClipboardProxy(broker.object(HandoffNames.brokerPath))
        MainLoop.start {
            do {
                try await body(proxy)
            } catch {
                agentLog.debug("The clipboard: \(DBusError.converting(error).message)")
            }
        }
    }

    // MARK: What is in it

    /// What of it may go to other devices, and by which type each is had.
    private var offered: [(kind: ClipboardKind, type: String)] {
        guard case .copied(let types, let application) = content else { return [] }
        if let application, excluded.contains(application.description) { return [] }
        return ClipboardKind.offered(as: types)
    }

    /// Tells the broker what was copied, once for all that was while it is being told.
    private func tell() {
        guard mode == .follow, isUnlocked(), let broker else { return }
        guard !isTelling else {
            isOutdated = true
            return
        }
        (isTelling, isOutdated) = (true, false)
        let types = offered.map(\.kind.rawValue)
        let proxy = ClipboardProxy(broker.object(HandoffNames.brokerPath))
        MainLoop.start { [weak self] in
            try? await proxy.changed(types: types)
            guard let self else { return }
            isTelling = false
            if isOutdated { tell() }
        }
    }

    private func own(_ kinds: [ClipboardKind], _ content: Content, _ provide: @escaping ClipboardProvider) {
        self.content = content
        keptUntil = MainLoop.now + Self.taking
        backend?.own(kinds.flatMap(\.spellings), provide)
    }

    /// Gives up what was taken over for a peer.
    private func giveUp() {
        guard case .followed = content else { return }
        content = .copied([], in: nil)
        keptUntil = MainLoop.now + Self.keeping
        backend?.disown()
    }

    private func requireUnlocked() throws(HandoffFailure) {
        guard isUnlocked() else {
            throw HandoffFailure(
                .accessDenied, "The session is locked, and so is its clipboard. Unlock it, then try again.")
        }
    }

    private func reached() throws(HandoffFailure) -> any ClipboardBackend {
        try requireUnlocked()
        guard let backend else { throw .noClipboard }
        return backend
    }
}

extension AgentClipboard: ClipboardUser {
    func clipboardChanged(_ types: [String]) {
        if MainLoop.now < keptUntil, !types.isEmpty {
            content = .brought
        } else {
            content = .copied(types, in: focus.window?.application)
        }
        tell()
    }

    func clipboardLost() {
        content = .copied([], in: nil)
        tell()
    }
}

extension AgentClipboard: DesktopClipboardServer {
    func read(type: String, _ call: MethodCall) async throws -> DesktopClipboardReadReply {
        let backend = try reached()
        let wanted = offered.filter { type.isEmpty || $0.kind.rawValue == type }
        var files: [(kind: ClipboardKind, file: ClipboardFile)] = []
        var failure: any Error = HandoffFailure.clipboardEmpty
        for (kind, type) in wanted {
            do {
                files.append((kind, try await backend.read(type)))
            } catch {
                failure = error
            }
        }
        guard !files.isEmpty else { throw failure }
        try requireUnlocked()
        let content = try ClipboardContent(files)
        return DesktopClipboardReadReply(
            contents: content.contents, content: try content.file.handedOut())
    }

    func write(
        deviceId: String, contents: [Structure<String, UInt64>], content: consuming FileDescriptor,
        _ call: MethodCall
    ) async throws {
        _ = try reached()
        let given = try ClipboardContent(contents, content)
        var files: [ClipboardKind: ClipboardFile] = [:]
        for kind in given.kinds { files[kind] = try given.file(of: kind) }
        own(given.kinds, .brought) { [isUnlocked, files] type in
            isUnlocked() ? ClipboardKind(spelling: type).flatMap { files[$0] } : nil
        }
        onPasted(ClipboardSummary(given), deviceId)
    }

    func follow(deviceId: String, types: [String], age: Int64, _ call: MethodCall) throws {
        _ = try reached()
        let kinds = types.compactMap { ClipboardKind(rawValue: $0) }
        let left = ClipboardNews.lifetime - .microseconds(max(0, age))
        guard !kinds.isEmpty, left > .zero, mode == .follow else {
            if case .followed(let former) = self.content, former.device == deviceId { giveUp() }
            return
        }
        let followed = Followed(deviceId)
        followed.end = .timer(after: left) { [weak self, weak followed] in
            guard let self, case .followed(let now) = self.content, now === followed else { return }
            giveUp()
        }
        own(kinds, .followed(followed)) { [weak self] type in
            await self?.fetch(type, of: followed)
        }
    }

    /// What was copied on a peer, for somebody who pastes it here.
    private func fetch(_ type: String, of followed: Followed) async -> ClipboardFile? {
        guard isUnlocked(), let kind = ClipboardKind(spelling: type), let broker,
            MainLoop.now - followed.begin >= Self.tooSoon
        else { return nil }
        let proxy = ClipboardProxy(broker.object(HandoffNames.brokerPath))
        let device = followed.device
        let task =
            followed.fetched[kind]
            ?? MainLoop.start {
                do {
                    let reply = try await proxy.read(
                        deviceId: device, type: kind.rawValue, timeout: Deadline.clipboard * 2)
                    let contents = reply.contents
                    return try ClipboardContent(contents, reply.content).file(of: kind)
                } catch {
                    agentLog.info("Nothing was pasted: \(DBusError.converting(error).message)")
                    return nil
                }
            }
        followed.fetched[kind] = task
        let file = await task.value
        // What has failed may be had the next time.
        if file == nil { followed.fetched[kind] = nil }
        return isUnlocked() ? file : nil
    }

    func ask(deviceId: String, types: [String], _ call: MethodCall) throws {
        _ = try reached()
        let kinds = types.compactMap { ClipboardKind(rawValue: $0) }
        call.afterReply { [onAsked] in onAsked(kinds, deviceId) }
    }
}
