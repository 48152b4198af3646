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
        /// Nothing, or it is not known yet.
        case nothing
        /// What another program has put there, while this application had the focus; nil if nobody knows which one had.
        case copied([String], in: ApplicationID?)
        /// What the user has pasted from another device, or what a clipboard manager has kept of such.
        case brought
        /// What is had from a peer when somebody pastes it.
        case followed(FollowedClipboard)
    }

    /// Called when something of a device was put into the clipboard, because the user wanted that.
    var onPasted: @MainLoop (ClipboardSummary, _ deviceID: String) -> Void = { _, _ in }
    /// Called when the user of a device has sent something.
    var onAsked: @MainLoop ([ClipboardKind], _ deviceID: String) -> Void = { _, _ in }

    private let focus: any FocusSource
    private let isUnlocked: @MainLoop () -> Bool
    /// The ways that a desktop may have, the best first.
    private let ways: [any ClipboardBackend]
    private var backend: (any ClipboardBackend)?
    /// Whether the ways are being tried, and whether none was there.
    private var (isLooking, isMissing) = (false, false)
    /// Whether the desktop lets the clipboard be had now.
    private var isReached = false
    private var content = Content.nothing {
        didSet { changes += 1 }
    }
    /// What was in it when it was lost.
    private var former = Content.nothing
    /// Counts what may change what goes to other devices.
    private var changes = 0
    /// The application that had the focus when somebody has put in it what is not known yet; nil if nobody has.
    private var changing: (application: ApplicationID?, isKept: Bool, known: Awaited<Void>)?
    private var mode = ClipboardMode.off
    private var excluded: Set<String> = [] {
        didSet { if excluded != oldValue { changes += 1 } }
    }
    private var broker: Daemon?
    /// Whether the broker is being told who reaches the clipboard.
    private var isRegistering = false
    /// Whether the broker is being told of a change, and whether there is a later one.
    private var (isTelling, isOutdated) = (false, false)
    /// Until then, in microseconds of ``MainLoop/now``, a clipboard manager may put back what it has kept.
    private var keptUntil: Int64 = 0

    /// How long a clipboard manager may take to put back what it has kept, once what was brought here is given up.
    private static let keeping: Int64 = 1_000_000
    /// How long it may take until it is known what somebody has copied, and how long to read that: together less than the broker
    /// waits.
    private static let (knowingTime, readingTime) = (Duration.seconds(2), Duration.seconds(5))
    /// How long it may take to find out whether a desktop has a way.
    private static let lookingTime = Duration.seconds(10)

    /// The clipboard by the first of `ways` that the desktop has. What was copied where is known by `focus`.
    init(
        _ focus: any FocusSource, _ ways: [any ClipboardBackend], isUnlocked: @escaping @MainLoop () -> Bool
    ) {
        (self.focus, self.ways, self.isUnlocked) = (focus, ways, isUnlocked)
        for way in ways { way.user = self }
    }

    /// The broker says this, or there is none.
    /// - Parameter desktop: by whose means the clipboard is reached, as the broker says.
    func update(_ broker: Daemon?, _ preferences: [String: Value]?, desktop: String) {
        let isNew = broker?.name != self.broker?.name
        self.broker = broker
        guard broker != nil, let preferences else {
            // What the user has pasted stays; what is to be had from a peer cannot be had.
            return giveUp()
        }
        excluded = Set(preferences.texts("ExcludedApplications"))
        let formerMode = mode
        mode = (try? ClipboardMode(preferences.text("Clipboard"))) ?? .off
        if mode != .follow { giveUp() }
        switch mode {
        case .off:
            // What the user has pasted stays until something else is copied.
            if case .brought = content { if formerMode != .off { unregister() } } else { end() }
        case .ask, .follow:
            if formerMode == .off { isMissing = false }
            if backend == nil { look() }
            // Another program may have registered and gone.
            if isNew || desktop.isEmpty { register() }
        }
    }

    /// The session was unlocked.
    func unlocked() {
        isMissing = false
        if let mutter = backend as? MutterClipboard { mutter.again() } else if mode != .off { look() }
    }

    /// Gives up what is owned. To be called before the program ends, and while the user wants nothing of the kind.
    func end() {
        guard let backend else { return }
        self.backend = nil
        (content, former) = (.nothing, .nothing)
        known()
        backend.end()
        isReached = false
        unregister()
    }

    private func look() {
        guard backend == nil, !isLooking, !isMissing else { return }
        isLooking = true
        MainLoop.start { [weak self, ways] in
            for way in ways {
                let awaited = Awaited<Bool>()
                MainLoop.start { awaited.come(await way.begin()) }
                if await awaited.value(within: Self.lookingTime) == true {
                    return self?.found(way) ?? way.end()
                }
                way.end()
            }
            agentLog.debug("Nothing reaches the clipboard of this desktop.")
            self?.isLooking = false
            self?.isMissing = true
        }
    }

    private func found(_ way: any ClipboardBackend) {
        isLooking = false
        guard mode != .off else { return way.end() }
        (backend, isReached) = (way, true)
        agentLog.debug("The clipboard is that of \(way.name).")
        register()
    }

    private func register() {
        guard isReached, !isRegistering, mode != .off, let name = backend?.name else { return }
        isRegistering = true
        call { [weak self] proxy in
            defer { self?.isRegistering = false }
            try await proxy.register(clipboard: HandoffNames.agentClipboard, desktop: name)
        }
    }

    private func unregister() { call { try await $0.unregister() } }

    private func call(_ body: @escaping @MainLoop @Sendable (ClipboardProxy) async throws -> Void) {
        guard let broker else {
            isRegistering = false
            return
        }
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
        // Where nobody knows in which application it was copied, it may have been one that is kept out.
        if !excluded.isEmpty {
            guard let application, !excluded.contains(application.description) else { return [] }
        }
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

    private func own(
        _ kinds: [ClipboardKind], marked mark: String, _ content: Content,
        _ provide: @escaping ClipboardProvider
    ) async throws(HandoffFailure) {
        guard let backend else { throw .noClipboard }
        self.content = content
        let number = changes
        known()
        let marks = try [mark: ClipboardFile(Array("secret".utf8))]
        let isOwned = await backend.own(kinds.flatMap(\.spellings) + [mark]) { type in
            if let file = marks[type] { return file }
            return await provide(type)
        }
        guard isOwned else {
            if changes == number { self.content = .nothing }
            throw .noClipboard
        }
    }

    /// It is known what is in it, or never will be.
    private func known() {
        changing?.known.come(())
        changing = nil
    }

    /// Gives up what was taken over for a peer.
    private func giveUp() {
        guard case .followed = content else { return }
        content = .nothing
        keptUntil = MainLoop.now + Self.keeping
        backend?.disown()
    }

    /// - Throws: `AccessDenied` if the session is locked, `NotSupported` if the clipboard cannot be had now.
    private func reached() throws(HandoffFailure) -> any ClipboardBackend {
        guard isUnlocked() else {
            throw HandoffFailure(
                .accessDenied, "The session is locked, and so is its clipboard. Unlock it, then try again.")
        }
        guard let backend, isReached else { throw .noClipboard }
        return backend
    }
}

extension AgentClipboard: ClipboardUser {
    func clipboardChanging() {
        let application = focus.isTelling ? focus.window?.application : nil
        changing = (application, MainLoop.now < keptUntil, changing?.known ?? Awaited())
        content = .nothing
    }

    func clipboardChanged(_ types: [String], isNew: Bool) {
        if changing == nil { clipboardChanging() }
        let (application, isKept) = (changing?.application, changing?.isKept == true)
        if isNew {
            content = isKept && !types.isEmpty ? .brought : .copied(types, in: application)
        } else {
            switch former {
            // It is what was there when it was lost.
            case .copied(types, _), .brought: content = former
            // It was put there before it could be known where it was copied.
            default: content = .copied(types, in: nil)
            }
        }
        former = .nothing
        known()
        if !isReached, backend != nil {
            isReached = true
            register()
        }
        if mode == .off, backend != nil { return end() }
        if isNew { tell() }
    }

    func clipboardLost() {
        if case .followed = content { former = .brought } else if isReached { former = content }
        (content, isReached) = (.nothing, false)
        known()
        unregister()
    }
}

extension AgentClipboard: DesktopClipboardServer {
    func read(type: String, _ call: MethodCall) async throws -> DesktopClipboardReadReply {
        _ = await changing?.known.value(within: Self.knowingTime)
        let backend = try reached()
        let wanted = offered.filter { type.isEmpty || $0.kind.rawValue == type }
        let number = changes
        let awaited = Awaited<Result<ClipboardContent, any Error>>()
        MainLoop.start { [weak self] in
            do {
                awaited.come(
                    .success(try await backend.content(wanted) { self?.changes == number }))
            } catch {
                awaited.come(.failure(error))
            }
        }
        guard let read = await awaited.value(within: Self.readingTime) else { throw ClipboardPipe.unfinished }
        let content = try read.get()
        // Something else may be in it by now, which may be a secret.
        _ = try reached()
        guard changes == number else { throw HandoffFailure.clipboardEmpty }
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
        try await own(given.kinds, marked: ClipboardKind.broughtMark, .brought) { [isUnlocked, files] type in
            isUnlocked() ? ClipboardKind(spelling: type).flatMap { files[$0] } : nil
        }
        onPasted(ClipboardSummary(given), deviceId)
    }

    func follow(deviceId: String, types: [String], age: Int64, _ call: MethodCall) async throws {
        _ = try reached()
        let kinds = types.compactMap { ClipboardKind(rawValue: $0) }
        let left = ClipboardNews.lifetime - .microseconds(max(0, age))
        guard !kinds.isEmpty, left > .zero, mode == .follow else {
            if case .followed(let former) = content, former.device == deviceId { giveUp() }
            return
        }
        guard let broker else { throw HandoffFailure.noClipboard }
        let followed = FollowedClipboard(
            deviceId, ClipboardProxy(broker.object(HandoffNames.brokerPath)), for: left
        ) { [weak self] over in
            if case .followed(let now)? = self?.content, now === over { self?.giveUp() }
        }
        // Marked as a secret, it is fetched and kept by no clipboard manager.
        try await own(kinds, marked: ClipboardKind.secretMark, .followed(followed)) { [isUnlocked] type in
            guard isUnlocked(), let kind = ClipboardKind(spelling: type) else { return nil }
            let file = await followed.fetch(kind)
            return isUnlocked() ? file : nil
        }
    }

    func ask(deviceId: String, types: [String], _ call: MethodCall) throws {
        _ = try reached()
        call.afterReply { [onAsked] in onAsked(types.compactMap { ClipboardKind(rawValue: $0) }, deviceId) }
    }
}
