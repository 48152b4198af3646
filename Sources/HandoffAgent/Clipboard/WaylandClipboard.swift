// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// The clipboard of a Wayland session whose compositor gives it to programs without a window (data control: KWin, sway and
/// others of wlroots; not GNOME).
///
/// Nothing here waits for the display, and nothing wakes up unless it says something.
@MainLoop
final class WaylandClipboard: ClipboardBackend {
    let name = "Wayland"
    weak var user: (any ClipboardUser)?

    private var connection: WaylandConnection?
    private var reading: DescriptorSource?
    /// There while something waits to be sent.
    private var writing: DescriptorSource?
    /// There while it is to be looked at why something could not be sent.
    private var looking: LoopSource?
    /// Whether it is to be connected.
    private var isWanted = false
    /// Whether a thread connects, which may take for ever.
    private var isConnecting = false
    /// Whether this desktop has this way, while nobody knows.
    private var beginning: Awaited<Bool>?
    private let repetition = Repetition()
    /// When it was connected.
    private var since: ContinuousClock.Instant?

    private var ownership: WaylandOwnership
    /// What is owned: the types, and what gives the content.
    private var owned: (types: [String], provide: ClipboardProvider)?
    /// Whether the compositor has taken what is owned, once it has.
    private var taken: Awaited<Bool>?
    /// How many programs wait for content of ours.
    private var waiting = 0
    /// How often something else was in the clipboard.
    private var changes = 0
    /// Whether it was told what is in the clipboard since a display is connected.
    private var isTold = false

    /// How long it may take to find out whether a display has this.
    private static let patience = Duration.seconds(10)
    /// How often connecting is tried again, without another reason, after the display was lost: a session without one is not
    /// to be woken for ever.
    private static let maximumAttempts = 5
    /// How long a display is there before another one counts as a new one.
    private static let trial = Duration.seconds(60)
    /// How many programs may wait for content of ours at a time.
    private static let maximumWaiting = 32

    /// For the display that the environment names.
    init() {
        var numbers = UnpredictableNumbers()
        ownership = WaylandOwnership(secret: numbers.next())
    }

    func begin() async -> Bool {
        guard !isWanted else { return connection != nil }
        // Without a name the library would try one that may be of another session.
        guard let name = getenv("WAYLAND_DISPLAY"), name.pointee != 0 else { return false }
        isWanted = true
        let beginning = Awaited<Bool>()
        self.beginning = beginning
        connect()
        if await beginning.value(within: Self.patience) ?? false { return true }
        if self.beginning === beginning { end() }
        return false
    }

    func end() {
        isWanted = false
        repetition.end()
        forget()
        begun(false)
    }

    private func begun(_ isThere: Bool) {
        let beginning = beginning
        self.beginning = nil
        beginning?.come(isThere)
    }

    private func forget() {
        // Nothing may watch the descriptor once it is closed.
        reading = nil
        writing = nil
        looking = nil
        connection = nil
        owned = nil
        taken?.come(false)
        ownership.lose()
        changes += 1
    }

    // MARK: Connecting

    private func connect() {
        guard isWanted, connection == nil, !isConnecting else { return }
        do {
            isConnecting = true
            try BackgroundThread.start("clipboard") {
                let connection = WaylandConnection()
                MainLoop.start { [weak self] in self?.connected(connection) }
            }
        } catch {
            isConnecting = false
            notConnected()
        }
    }

    private func connected(_ new: WaylandConnection?) {
        isConnecting = false
        guard isWanted else { return }
        guard let new else { return notConnected() }
        connection = new
        (since, isTold) = (.now, false)
        reading = DescriptorSource(new.descriptor, .readable) { [weak self] _ in self?.take() }
        begun(true)
        // What has arrived while it was connected makes the descriptor readable no more.
        take()
    }

    private func notConnected() {
        agentLog.debug("The Wayland display does not give the clipboard to programs without a window.")
        // Whoever begins is told, and may take another way.
        if beginning != nil { return end() }
        again()
    }

    private func again() {
        repetition.repeatLater(atMost: Self.maximumAttempts) { [weak self] in self?.connect() }
    }

    private func lost() {
        agentLog.info("The Wayland display does not give the clipboard any more.")
        // One that takes connections and loses them at once is not tried without end.
        if let since, since.duration(to: .now) > Self.trial { repetition.end() }
        forget()
        again()
        user?.clipboardLost()
    }

    // MARK: Following

    private func take() {
        guard let connection else { return }
        for event in connection.takeEvents() {
            // Whoever was told of one may have ended all of it.
            guard self.connection === connection else { return }
            take(event)
        }
        guard self.connection === connection else { return }
        if connection.isBroken { return lost() }
        flush()
    }

    private func take(_ event: WaylandConnection.Event) {
        switch event {
        case .selected(let offer):
            changes += 1
            let isNew = isTold
            isTold = true
            tell(ownership.selected(offer), isNew: isNew)
            if let offer, ownership.isOwned(offer) { taken?.come(true) }
        case .cancelled(let number):
            let types = ownership.cancelled(number)
            if ownership.owned == nil {
                owned = nil
                taken?.come(false)
            }
            tell(types, isNew: true)
        case .asked(let request): give(request)
        }
    }

    private func tell(_ types: [String]?, isNew: Bool) {
        if let types { user?.clipboardChanged(types, isNew: isNew) }
    }

    private func give(_ request: WaylandRequest) {
        guard request.source == ownership.owned, let (types, provide) = owned, types.contains(request.type),
            waiting < Self.maximumWaiting
        else { return }
        waiting += 1
        MainLoop.start { [weak self] in
            let file = await provide(request.type)
            self?.waiting -= 1
            guard let file, let descriptor = request.take() else { return }
            ClipboardPipe.write(file, to: descriptor)
        }
    }

    private func flush() {
        guard let connection else { return }
        if connection.flush() {
            writing = nil
        } else if writing == nil {
            writing = DescriptorSource(connection.descriptor, .writable) { [weak self] _ in self?.flush() }
        }
        // Where an error is of the library's own, nothing arrives.
        guard connection.isBroken, looking == nil else { return }
        writing = nil
        looking = .soon { [weak self] in
            self?.looking = nil
            self?.take()
        }
    }

    // MARK: Using

    func read(_ type: String) async throws -> ClipboardFile {
        guard let connection, let offer = connection.selection, !ownership.isOwned(offer),
            offer.types.contains(type)
        else { throw Self.gone }
        let changes = changes
        guard let descriptor = connection.ask(type) else { throw ClipboardPipe.unfinished }
        flush()
        let file = try await ClipboardPipe.read(descriptor)
        // Whoever is not there any more says nothing, as if that were the content.
        guard file.size > 0 || changes == self.changes else { throw Self.gone }
        return file
    }

    func own(_ types: [String], _ provide: @escaping ClipboardProvider) async -> Bool {
        guard let connection else { return false }
        var offer = WaylandOffer()
        for type in types where !type.utf8.contains(0) { offer.add(type) }
        let number = ownership.own()
        owned = (offer.types, provide)
        connection.own(offer.types + [ownership.mark(of: number)], number)
        taken?.come(false)
        let taken = Awaited<Bool>()
        self.taken = taken
        flush()
        return await taken.value(within: Self.owningTime) ?? false
    }

    func disown() {
        guard ownership.owned != nil else { return }
        ownership.disown()
        owned = nil
        connection?.disown()
        flush()
    }

    private static let gone = HandoffFailure(
        .offerWithdrawn, "What was in the clipboard is not there any more. Copy it once more there.")
}
