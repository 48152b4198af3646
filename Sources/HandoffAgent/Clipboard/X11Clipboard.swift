// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// The clipboard of an X11 session: the selection CLIPBOARD (Inter-Client Communication Conventions Manual), whose owners the
/// display tells of (XFIXES).
///
/// Nothing here waits for another client, and nothing is asked unless the display says that something has changed. However often
/// that happens, it is asked at most ten times a second.
@MainLoop
final class X11Clipboard: ClipboardBackend {
    let name = "X11"
    weak var user: (any ClipboardUser)?

    private var link: Link?
    private var ownership = X11Ownership()
    /// Whether a change was seen since a display is connected.
    private var hasChanged = false
    /// The names of the types that were asked for by now.
    private var types: [String] = []
    /// While this runs, nothing is asked.
    private var pause: LoopSource?
    /// Takes what has come, soon.
    private var taking: LoopSource?
    /// Whether it is to be connected.
    private var isWanted = false
    /// Counts the attempts to connect. The thread of one may take for ever.
    private var attempt = 0
    private let repetition = Repetition()

    private static let interval = Duration.milliseconds(100)
    /// How often connecting is tried again, without another reason, after the display was lost: a session without one is not
    /// to be woken for ever.
    private static let maximumAttempts = 5

    /// What there is while a display is connected.
    private struct Link {
        let connection: X11ClipboardConnection
        let source: DescriptorSource
        let reader: X11Reader
        let giver: X11Giver
    }

    /// For the display that the environment names.
    init() {}

    // MARK: Connecting

    func begin() async -> Bool {
        guard !isWanted else { return link != nil }
        isWanted = true
        let isConnected = await connect()
        if isConnected == false { end() }
        return isConnected == true
    }

    func end() {
        isWanted = false
        attempt += 1
        repetition.end()
        forget()
    }

    /// - Returns: whether this has connected; nil if that is not wanted any more.
    private func connect() async -> Bool? {
        guard isWanted, link == nil else { return nil }
        attempt += 1
        let attempt = attempt
        let new = try? await BackgroundThread.run("display") { X11ClipboardConnection() }
        guard self.attempt == attempt else { return nil }
        guard let new else { return false }
        follow(new)
        return true
    }

    private func follow(_ new: X11ClipboardConnection) {
        link = Link(
            connection: new,
            source: DescriptorSource(new.descriptor, .readable) { [weak self] _ in self?.take() },
            reader: X11Reader(new), giver: X11Giver(new))
        hasChanged = false
        new.onUnsent = { [weak self] in self?.takeSoon() }
        new.owner { [weak self] owner in
            guard let self, let owner else { return }
            // Only a display that answers is there again: any other may take connections and lose them without end.
            repetition.end()
            ownership.found(owner == 0 ? .nobody : .other(time: 0))
            refresh()
        }
    }

    private func lost() {
        agentLog.info("The display whose clipboard was followed is gone.")
        forget()
        user?.clipboardLost()
        again()
    }

    private func again() {
        guard isWanted else { return }
        repetition.repeatLater(atMost: Self.maximumAttempts) { [weak self] in
            MainLoop.start { [weak self] in
                guard let self, await connect() == false else { return }
                again()
            }
        }
    }

    private func forget() {
        let former = link
        link = nil
        (pause, taking) = (nil, nil)
        (ownership, types) = (X11Ownership(), [])
        former?.source.cancel()
        former?.connection.onUnsent = nil
        former?.reader.abandon()
    }

    // MARK: Following

    private func takeSoon() {
        guard taking == nil else { return }
        taking = .soon { [weak self] in
            self?.taking = nil
            self?.take()
        }
    }

    private func take() {
        guard let connection = link?.connection else { return }
        // What is sent may be answered at once, and sending may read something that the descriptor does not tell of any more.
        connection.flush()
        let (events, isAll) = connection.take()
        // What is lost with a connection is no answer.
        guard !connection.isBroken else { return lost() }
        for event in events {
            // The user may have ended everything.
            guard let link, link.connection === connection else { return }
            take(event, link)
        }
        if !isAll { takeSoon() }
    }

    private func take(_ event: X11ClipboardEvent, _ link: Link) {
        switch event {
        case .owned(let window, let time): owned(by: window, time, link)
        case .converted(let answer): link.reader.converted(answer)
        case .requested(let request): link.giver.requested(request)
        case .ceased:
            // What was given up before it is taken anew is told late.
            if !ownership.isTaking { link.giver.ceased() }
        case .written(link.connection.atoms.stamp, let time): link.giver.stamped(time)
        case .written(let property, _): link.reader.written(property)
        case .deleted(let property, let window): link.giver.deleted(property, of: window)
        case .answered(let body): body()
        }
    }

    private func owned(by window: UInt32, _ time: UInt32, _ link: Link) {
        let isOurs = window == link.connection.window
        ownership.changed(to: isOurs ? .us : window == 0 ? .nobody : .other(time: time))
        hasChanged = true
        if !isOurs {
            if !ownership.isTaking { link.giver.ceased() }
            user?.clipboardChanging()
        }
        // What is read now would be something else than what was told.
        link.reader.abandon()
        refresh()
    }

    /// Asks what is in the clipboard, if that may have changed.
    private func refresh() {
        guard ownership.isDue, pause == nil, let link else { return }
        let question = ownership.ask()
        pause = .timer(after: Self.interval) { [weak self] in
            self?.pause = nil
            self?.refresh()
        }
        guard case .other(let time)? = ownership.holder else { return tell([], question) }
        link.reader.readTargets(at: time) { [weak self] targets in self?.answered(targets, question) }
    }

    private func answered(_ targets: [UInt32], _ question: Int) {
        guard ownership.isAsked(question), let connection = link?.connection else { return }
        let atoms = connection.atoms.types(among: targets)
        guard let last = atoms.last else { return tell([], question) }
        types = []
        for atom in atoms {
            connection.name(of: atom) { [weak self] name in
                self?.named(name, isLast: atom == last, question)
            }
        }
    }

    private func named(_ name: String?, isLast: Bool, _ question: Int) {
        guard ownership.isAsked(question) else { return }
        if let name, !name.isEmpty, name.utf8.count <= ClipboardTypes.maximumLength { types.append(name) }
        if isLast { tell(types, question) }
    }

    private func tell(_ types: [String], _ question: Int) {
        if ownership.answered(question) { user?.clipboardChanged(types, isNew: hasChanged) }
    }

    // MARK: Using

    func read(_ type: String) async throws -> ClipboardFile {
        guard let link, let time = ownership.readable, !type.isEmpty,
            type.utf8.count <= ClipboardTypes.maximumLength
        else { throw ClipboardPipe.unfinished }
        return try await link.reader.read(type, at: time)
    }

    func own(_ types: [String], _ provide: @escaping ClipboardProvider) async -> Bool {
        guard let link else { return false }
        ownership.take()
        let taken = Awaited<Bool>()
        link.giver.own(types, provide) { [weak self] isOurs in
            self?.took(isOurs)
            taken.come(isOurs)
        }
        return await taken.value(within: Self.owningTime) ?? false
    }

    private func took(_ isOurs: Bool) {
        ownership.took(isOurs)
        if !isOurs { link?.giver.ceased() }
        refresh()
    }

    func disown() {
        link?.giver.giveUp()
        ownership.giveUp()
        refresh()
    }
}
