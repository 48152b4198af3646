// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
package import HandoffCore
package import MainLoop
internal import Platform

/// An application that does not know Handoff, and that an adapter stands for: a connection of its own, registered under the
/// application's id, with one activity for what each of the windows shows that its user was at last.
///
/// What its user leaves is open, and can be listed for another device: they have gone to another window of it
/// (``show(_:takingOver:)``) or to another application (``leave()``). It is closed when that window shows something else or
/// is gone (``close(unless:)``, ``showNothing()``), or when something is in front that must not be offered (``resign()``).
/// Besides, one activity can be open that is never what its user is at (``keepOpen(_:)``).
///
/// When the application itself registers, the adapter steps back for good: nothing that is called here has an effect then.
@MainLoop
package final class AdaptedApplication {
    /// Which application it is.
    package let id: ApplicationID
    /// Whether the application has learnt Handoff itself, or the broker refuses to let anybody stand for it.
    package private(set) var hasSteppedBack = false
    /// Called once when ``hasSteppedBack`` becomes true.
    package var onSteppedBack: (@MainLoop () -> Void)?
    /// Asked for what has changed since, before the activity is handed to another device: position, page, text. The
    /// properties are those of `org.example.Handoff.Activity`, applied like `Update`.
    package var onSave: (@MainLoop (ShownActivity) async throws -> [String: Value])?
    /// Called when what was shown has been continued on `device`.
    package var onContinued: (@MainLoop (ShownActivity, ClientDevice) -> Void)?
    /// Asked to continue something from another device. To say that it is not to be had here, throw.
    package var onContinue: (@MainLoop (HandedActivity) async throws -> Bool)?
    /// What the application shows in front now, as it was told last.
    package private(set) var shown: ShownActivity?

    /// Whether what it shows is the current activity of the session.
    package private(set) var isCurrent = false
    /// Called when ``isContinuing`` may be different.
    package var onContinuingChange: (@MainLoop () -> Void)?

    private let client: HandoffClient
    private var key: ActivityKey?
    /// Whether what it shows is to be current: while there is no broker, nothing is.
    private var wantsCurrent = false
    /// Whether it has been current, and is not closed.
    private var isOpen = false
    /// What other windows of it show, and is open; what was in front last is at the end.
    private var aside: [(key: ActivityKey, shown: ShownActivity)] = []
    /// Whether what it has shown is not offered, since it shows something that must not be.
    private var isWithheld = false
    /// When the broker was told last, and what it is to be told next.
    private var toldAt = Int64.min / 2
    private var waiting: (activity: ShownActivity, takingOver: Bool)?
    private var timer: LoopSource?
    /// What is open and never current.
    private var kept: (key: ActivityKey, shown: ShownActivity)?
    /// What is on its way to it, or being continued by it.
    private var coming: Set<ContinuationKey> = [] {
        didSet { if coming != oldValue { onContinuingChange?() } }
    }

    /// How often the broker is told of what an application shows at most: as often as peers are told (rule C8).
    private static let pace: Int64 = 100_000
    private static var lastKey: UInt64 = 0

    /// An adapter's part for `id`.
    /// - Parameters:
    ///   - types: the activity types of what it shows and continues.
    ///   - team: whose activities it may continue.
    ///   - receives: whether it is handed what is continued here.
    ///   - address: the bus that the application is on.
    package init(
        _ id: ApplicationID, types: [ActivityType], team: Team, receives: Bool,
        on address: Bus.Address = .session
    ) {
        self.id = id
        client = HandoffClient(address)
        client.delegate = self
        client.start(
            ClientDeclaration(
                applicationID: id.description, activityTypes: types.map(\.description),
                team: team.description, receives: receives, isAdapter: true))
    }

    /// Ends the part: what was shown ends too. Nothing may be called afterwards.
    package func end() {
        client.stop()
        (key, shown, waiting, timer, coming, aside) = (nil, nil, nil, nil, [], [])
        kept = nil
    }

    /// Whether something of another device is on its way to it, or being continued by it.
    package var isContinuing: Bool { !coming.isEmpty }

    // MARK: What the application shows

    /// The application shows `activity` now, and its user is at it: it becomes the current one. What the same window has shown
    /// before ends, unless it is the same thing with other properties; what two other windows have stays open. However often
    /// this is called, the broker is told ten times a second at most, and of the latest.
    /// - Parameter takingOver: false if the application has gone on by itself: then it becomes the current one only in
    ///   place of what the application has shown before.
    package func show(_ activity: ShownActivity, takingOver: Bool = true) {
        guard !hasSteppedBack else { return }
        let takingOver = takingOver || waiting?.takingOver == true
        let wait = toldAt + Self.pace - MainLoop.now
        guard wait > 0 else { return tell(activity, takingOver) }
        waiting = (activity, takingOver)
        if timer == nil {
            timer = .timer(after: .microseconds(wait)) { [weak self] in self?.tellWaiting() }
        }
    }

    private func tellWaiting() {
        timer = nil
        if let waiting { tell(waiting.activity, waiting.takingOver) }
    }

    private func tell(_ activity: ShownActivity, _ takingOver: Bool) {
        (toldAt, waiting, timer) = (MainLoop.now, nil, nil)
        let becomesCurrent = takingOver || wantsCurrent
        turn(to: activity.window)
        if let key, let shown, shown.isSameThing(as: activity) {
            var changed = activity.changes(since: shown)
            if isWithheld { changed["EligibleForHandoff"] = .boolean(true) }
            if !changed.isEmpty { client.update(key, changed) }
        } else {
            if let key { client.invalidate(key) }
            Self.lastKey += 1
            let new = ActivityKey(Self.lastKey)
            key = new
            client.create(new, type: activity.type.description, properties: activity.properties)
            (isCurrent, wantsCurrent, isOpen) = (false, false, false)
        }
        (shown, isWithheld) = (activity, false)
        guard let key, !wantsCurrent, becomesCurrent else { return }
        (isCurrent, wantsCurrent, isOpen) = (true, true, true)
        client.becomeCurrent(key)
    }

    /// What `window` shows is in front from now on, and what was stays open.
    private func turn(to window: String) {
        guard shown?.window != window else { return }
        if let key, let shown {
            if isOpen, !isWithheld { aside.append((key, shown)) } else { client.invalidate(key) }
        }
        let next = aside.firstIndex { $0.shown.window == window }.map { aside.remove(at: $0) }
        (self.key, shown, isOpen) = (next?.key, next?.shown, next != nil)
        (isCurrent, wantsCurrent, isWithheld) = (false, false, false)
        // With what is in front, no more is listed.
        while aside.count >= Quota.openOfApplication { client.invalidate(aside.removeFirst().key) }
    }

    /// The user is at something else: what was shown is no longer the current activity, and stays open.
    package func leave() {
        (waiting, timer) = (nil, nil)
        guard let key, wantsCurrent else { return }
        (isCurrent, wantsCurrent) = (false, false)
        client.leaveCurrent(key)
    }

    /// Something is in front that must not be offered: what was shown stays, and is neither current nor open.
    package func resign() {
        (waiting, timer) = (nil, nil)
        guard let key, isOpen else { return }
        (isCurrent, wantsCurrent, isOpen) = (false, false, false)
        client.resignCurrent(key)
    }

    /// What is in front shows nothing any more that could be continued.
    package func showNothing() {
        (waiting, timer) = (nil, nil)
        if let key { client.invalidate(key) }
        (key, shown, isCurrent, wantsCurrent, isWithheld, isOpen) = (nil, nil, false, false, false, false)
    }

    /// What windows that are not in front have shown is over, but for what `isStillThere` says that it is still there.
    package func close(unless isStillThere: (ShownActivity) -> Bool) {
        if let waiting, !isStillThere(waiting.activity) { self.waiting = nil }
        // What is about to take its place in front would keep it.
        if waiting != nil, let shown, !isStillThere(shown) { isOpen = false }
        aside.removeAll { key, shown in
            if isStillThere(shown) { return false }
            client.invalidate(key)
            return true
        }
    }

    /// The application has gone on by itself to something that must not be offered. What it has shown is offered no longer, and
    /// what it shows next is as current as that was, unless the user has been at something else meanwhile.
    package func withhold() {
        (waiting, timer) = (nil, nil)
        guard let key, wantsCurrent else { return showNothing() }
        guard !isWithheld else { return }
        isWithheld = true
        client.update(key, ["EligibleForHandoff": .boolean(false)])
    }

    // MARK: What is open besides

    /// `activity` is open from now on, beside what the application shows and without ever being current, in place of what was
    /// so before; nil for nothing. The broker is told each time: call it at the pace of ``show(_:takingOver:)`` at most.
    package func keepOpen(_ activity: ShownActivity?) {
        guard !hasSteppedBack else { return }
        if let kept, let activity, kept.shown.isSameThing(as: activity) {
            let changed = activity.changes(since: kept.shown)
            if !changed.isEmpty { client.update(kept.key, changed) }
            self.kept = (kept.key, activity)
            return
        }
        if let kept { client.invalidate(kept.key) }
        kept = nil
        guard let activity else { return }
        Self.lastKey += 1
        let new = ActivityKey(Self.lastKey)
        kept = (new, activity)
        client.create(new, type: activity.type.description, properties: activity.properties)
        client.becomeOpen(new)
    }

    private func stepBack(_ reason: String) {
        guard !hasSteppedBack else { return }
        hasSteppedBack = true
        adapterLog.debug("\(id) is left to itself: \(PeerText.message(reason))")
        (key, shown, waiting, timer, coming, aside) = (nil, nil, nil, nil, [], [])
        kept = nil
        (isCurrent, wantsCurrent, isOpen) = (false, false, false)
        client.stop()
        onSteppedBack?()
    }
}

extension AdaptedApplication: HandoffClientDelegate {
    package func standingChanged(_ standing: ClientStanding) {
        switch standing {
        case .replaced(let error): stepBack(error.message)
        case .refused(let error):
            adapterLog.warning("The adapter of \(id) is refused: \(PeerText.message(error.message))")
        case .absent, .withoutBus, .busEnded: coming = []
        case .registered: break
        }
    }

    package func brokerEnded(isReplaced: Bool) {
        // What was coming comes no more.
        coming = []
    }

    package func registrationEnded(_ reason: String) {
        adapterLog.debug("The registration of \(id) has ended: \(PeerText.message(reason))")
    }

    package func currentChanged(_ key: ActivityKey, _ isCurrent: Bool) {
        guard key == self.key else { return }
        self.isCurrent = isCurrent
        // What ends with its broker is current again with the next one.
        if !isCurrent, client.hasBroker { wantsCurrent = false }
    }

    package func refused(_ key: ActivityKey, _ error: DBusError, restored: [String: Value?]) {
        adapterLog.debug("What \(id) shows is refused: \(PeerText.message(error.message))")
        // It may be taken the next time.
        if key == self.key { wantsCurrent = false }
    }

    package func willSave(_ key: ActivityKey) async throws -> [String: Value] {
        guard let shown = shown(by: key), let onSave else { return [:] }
        // It is continued: whoever continues it later has to ask again.
        return try await onSave(shown).merging(["Passing": .boolean(true)]) { _, new in new }
    }

    package func wasContinued(_ key: ActivityKey, on device: ClientDevice) throws {
        if let shown = shown(by: key) { onContinued?(shown, device) }
    }

    private func shown(by key: ActivityKey) -> ShownActivity? {
        if key == kept?.key { return kept?.shown }
        return key == self.key ? shown : aside.first { $0.key == key }?.shown
    }

    package func continueActivity(
        _ key: ContinuationKey, _ activity: [String: Value], _ context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        guard let onContinue else {
            throw DBusError.unknownMethod("\(id) continues nothing while it is not there. Start it.")
        }
        coming.insert(key)
        defer { coming.remove(key) }
        return try await onContinue(HandedActivity(activity, context))
    }

    package func willContinue(
        _ key: ContinuationKey, type: String, from device: ClientDevice
    ) async throws -> Bool {
        coming.insert(key)
        return false
    }

    package func didFailToContinue(_ key: ContinuationKey?, type: String, _ error: DBusError) throws {
        // Which of several does not come is not always said. As long as any does, it is told of that one.
        if let key = key ?? coming.first { coming.remove(key) }
    }
}
