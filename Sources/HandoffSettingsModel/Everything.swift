// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffStatus

/// What is open at another device, and what the user wants of it. It does nothing itself: what has to be asked for is returned.
package struct Everything: Equatable, Sendable {
    /// How far it is.
    package enum Step: Equatable, Sendable {
        /// It is not known yet whom to ask.
        case waiting
        /// The device is asked what is open there.
        case listing
        /// The user chooses.
        case listed
        /// The device has not said what is open there, for this reason.
        case refused(String)
        /// What was chosen is to be continued here, and the broker has not answered.
        case beginning
        /// What was chosen is being continued here; this object says how far it is.
        case running(ObjectPath)
    }

    /// Something that is open there, or was.
    struct Entry: Equatable, Sendable {
        let offer: RemoteOffer
        /// Whether it was listed before, and is not any more.
        let isGone: Bool

        /// Whether it can be chosen.
        var isPossible: Bool { !isGone && offer.canContinue }
    }

    /// The device: 64 hexadecimal digits.
    package let device: String
    /// How far it is.
    package private(set) var step = Step.waiting
    /// What is open there, the latest used first, and then what has gone since the list before.
    private(set) var entries: [Entry] = []
    /// What is being continued, or was last.
    private(set) var run: ContinueAllRun?
    /// Why what was chosen last was not begun; empty if it was.
    private(set) var problem = ""
    /// What the user does not want.
    private var unticked: Set<ObjectPath> = []
    /// When it was listed, in microseconds since the Unix epoch.
    private var listedAt: Int64 = 0
    private var report: StatusReport?

    /// How long a list is good for, in microseconds, while the user looks at it: the broker forgets it after a minute.
    package static let patience: Int64 = 45_000_000

    /// What is open at the device of this id, which nobody was asked for yet.
    package init(_ device: String) { self.device = device }

    /// The device, if it is known.
    var known: KnownDevice? { report?.bridge.content?.devices.first { $0.id == device } }

    /// What is to be continued, in the order of the list.
    package var chosen: [RemoteOffer] {
        entries.filter { $0.isPossible && !unticked.contains($0.offer.path) }.map(\.offer)
    }

    /// What has become of the activity at `path` by what was begun last; nil if it was not among that.
    func result(of path: ObjectPath) -> ContinueAllRun.Result? {
        run?.results.first { $0.activity == path }
    }

    /// Whether something is being continued.
    package var isRunning: Bool {
        switch step {
        case .beginning, .running: true
        case .waiting, .listing, .listed, .refused: false
        }
    }

    /// Whether the user can have the device asked again.
    package var canList: Bool {
        switch step {
        case .listed, .refused: true
        case .waiting, .listing, .beginning, .running: false
        }
    }

    // MARK: What the user does

    /// The user wants to see what is open there now.
    package mutating func list() -> [Request] {
        guard canList else { return [] }
        step = .listing
        return [.listActivities(device)]
    }

    /// The user looks at it at the time `now`, in microseconds since the Unix epoch: a list that is too old is asked for again.
    package mutating func look(at now: Int64) -> [Request] {
        remainingTime(at: now) == 0 ? list() : []
    }

    /// In how many microseconds the list is too old; nil if it is not to be asked for again by itself.
    package func remainingTime(at now: Int64) -> Int64? {
        guard step == .listed else { return nil }
        return now < listedAt ? 0 : max(0, listedAt + Self.patience - now)
    }

    /// The user wants the activity at `path`, or not.
    package mutating func tick(_ path: ObjectPath, _ isWanted: Bool) {
        guard !isRunning else { return }
        if isWanted { unticked.remove(path) } else { unticked.insert(path) }
    }

    /// The user wants what is ticked to be continued here, and what was used last to be in front in the end: it comes last, and
    /// `token` lets its application raise its window.
    package mutating func begin(token: String) -> [Request] {
        let paths = chosen.reversed().map(\.path)
        guard !isRunning, !paths.isEmpty else { return [] }
        (step, run, problem) = (.beginning, nil, "")
        return [.continueAll(paths, token: token)]
    }

    /// The user does not want what is under way any more.
    package func cancel() -> [Request] {
        if case .running(let path) = step { [.cancelAll(path)] } else { [] }
    }

    // MARK: What happens

    /// The daemons say something else.
    package mutating func take(_ report: StatusReport) -> [Request] {
        self.report = report
        follow()
        guard step == .waiting else { return [] }
        step = .listing
        return [.listActivities(device)]
    }

    /// Something that was asked for is over at the time `now`, in microseconds since the Unix epoch.
    package mutating func finish(_ request: Request, _ outcome: Outcome, at now: Int64) {
        switch (request, outcome, step) {
        case (.listActivities, .listed(let offers), .listing):
            let paths = Set(offers.map(\.path))
            let gone = entries.filter { !$0.isGone && !paths.contains($0.offer.path) }.map(\.offer)
            entries =
                offers.map { Entry(offer: $0, isGone: false) } + gone.map { Entry(offer: $0, isGone: true) }
            (step, listedAt) = (.listed, now)
        case (.listActivities, .failed(_, let message), .listing): step = .refused(message)
        case (.continueAll, .began(let path), .beginning):
            step = .running(path)
            follow()
        case (.continueAll, .failed(_, let message), .beginning): (step, problem) = (.listed, message)
        default: break
        }
    }

    /// Sees how far it is with what is being continued. If nobody says that any more, what was said last is what there is.
    private mutating func follow() {
        guard case .running(let path) = step else { return }
        let broker = report?.broker.content
        if let now = broker?.continuing.first(where: { $0.path == path }) {
            run = now
            if now.isOver { end() }
        } else if broker == nil || run != nil {
            end()
        }
    }

    /// Nothing is being continued any more. What was continued here is not wanted once more.
    private mutating func end() {
        step = .listed
        for result in run?.results ?? [] where result.state == .continued { unticked.insert(result.activity) }
    }
}
