// SPDX-License-Identifier: LGPL-2.1-or-later

// This file is long because what is wanted, what was sent and what the broker has answered is one state, into which other files
// would have to reach.

internal import DBus

/// The activities of a client: what the application wants of them, what the broker has been told, and so what has to be
/// sent next.
///
/// What is called within one turn is gathered until ``take()``; then the order of the calls is kept, and each property is
/// sent once, with its latest value. A call that needs an object the broker has not named yet waits, and with it what
/// was called after it.
struct ActivityBook: Equatable {
    /// What is to be sent to the broker.
    enum Call: Equatable {
        case create(ActivityKey, type: String, properties: [String: Value])
        case update(ActivityKey, ObjectPath, [String: Value])
        case becomeCurrent(ActivityKey, ObjectPath)
        case resignCurrent(ActivityKey, ObjectPath)
        case leaveCurrent(ActivityKey, ObjectPath)
        case becomeOpen(ActivityKey, ObjectPath)
        case invalidate(ActivityKey, ObjectPath)
    }

    /// What the application is told.
    enum Event: Equatable {
        /// The broker has it, there.
        case created(ActivityKey, ObjectPath)
        case currentChanged(ActivityKey, Bool)
        case needsSaveChanged(ActivityKey, Bool)
        /// The broker has refused something. The properties have these values again, nil for none.
        case refused(ActivityKey, DBusError, restored: [String: Value?])
    }

    /// Something that was called and has to be sent.
    enum Step: Equatable {
        case create, update, becomeCurrent, resignCurrent, leaveCurrent, becomeOpen, invalidate

        /// Whether it decides which activity is current, of those that exist.
        var decidesCurrent: Bool { self == .becomeCurrent || endsCurrent }
        /// Whether it ends being current, and no more than that.
        var endsCurrent: Bool { self == .resignCurrent || self == .leaveCurrent }
    }

    /// A step of an activity.
    struct Entry: Equatable {
        let key: ActivityKey
        let step: Step
    }

    /// How many calls may wait for their answers. A broker that does not read would otherwise be sent without bound.
    static let maximumUnderWay = 32

    /// What the application wants, in the order of creation.
    private(set) var activities: [ActivityKey: WantedActivity] = [:]
    private(set) var order: [ActivityKey] = []
    /// The activities that the broker still has, although the application has ended them.
    private var leftovers: Set<ActivityKey> = []
    /// Where it has those of them that it has named.
    private var leftoverPaths: [ActivityKey: ObjectPath] = [:]
    /// What is to be sent, in this order.
    private var queue: [Entry] = []
    /// What was sent and is not answered yet.
    private var underWay: [Entry] = []
    /// The activity that is to be current.
    private(set) var current: ActivityKey?
    /// Whether there is a broker that knows the application.
    private(set) var isRegistered = false

    /// Whether nothing is left to be sent or answered.
    var isSettled: Bool { (queue.isEmpty || !isRegistered) && underWay.isEmpty }

    /// The activity that the broker has at `path`.
    func key(at path: ObjectPath) -> ActivityKey? { order.first { activities[$0]?.path == path } }

    // MARK: What the application calls

    /// Creates an activity. Nothing happens if there is one of that number.
    mutating func create(_ key: ActivityKey, type: String, properties: [String: Value]) {
        guard activities[key] == nil else { return }
        activities[key] = WantedActivity(type: type, properties: properties)
        order.append(key)
        enqueue(key, .create)
    }

    /// Sets properties.
    mutating func update(_ key: ActivityKey, _ properties: [String: Value]) {
        guard activities[key] != nil, !properties.isEmpty else { return }
        activities[key]?.set(properties)
        if createAgain(key) || isQueued(key, .create) { return }
        if !isQueued(key, .update) { enqueue(key, .update) }
    }

    /// Makes it the current one.
    mutating func becomeCurrent(_ key: ActivityKey) -> [Event] {
        guard activities[key] != nil else { return [] }
        current = key
        open(key)
        // What another one resigns is closed all the same.
        dropDecisions { $0.key == key || $0.step != .resignCurrent }
        if !createAgain(key) { enqueue(key, .becomeCurrent) }
        return tellForBroker()
    }

    /// It is no longer the current one, nor open.
    mutating func resignCurrent(_ key: ActivityKey) -> [Event] {
        activities[key]?.openedAs = nil
        queue.removeAll { $0 == Entry(key: key, step: .becomeOpen) }
        return endCurrent(key, .resignCurrent)
    }

    /// It is no longer the current one, and stays open.
    mutating func leaveCurrent(_ key: ActivityKey) -> [Event] {
        // What it has resigned just now is closed, unless it was opened since.
        let isClosed = isQueued(key, .resignCurrent) && !isQueued(key, .becomeOpen)
        return endCurrent(key, isClosed ? .resignCurrent : .leaveCurrent)
    }

    /// It is open, also with each new broker, without being the current one for that.
    mutating func becomeOpen(_ key: ActivityKey) {
        guard activities[key] != nil else { return }
        open(key)
        if !createAgain(key), !isQueued(key, .becomeOpen) { enqueue(key, .becomeOpen) }
    }

    private mutating func open(_ key: ActivityKey) {
        let last = activities.values.compactMap(\.openedAs).max() ?? 0
        activities[key]?.openedAs = last + 1
    }

    private mutating func endCurrent(_ key: ActivityKey, _ step: Step) -> [Event] {
        guard activities[key] != nil else { return [] }
        if current == key { current = nil }
        dropDecisions { $0.key == key }
        enqueue(key, step)
        return tellForBroker()
    }

    /// What was to be said of which activity is current is outdated. What was open before is open all the same.
    private mutating func dropDecisions(_ isOutdated: (Entry) -> Bool) {
        let dropped = queue.filter { $0.step.decidesCurrent && isOutdated($0) }
        queue.removeAll { dropped.contains($0) }
        for entry in dropped where entry.step == .becomeCurrent && entry.key != current {
            if activities[entry.key]?.isOpen == true, !isQueued(entry.key, .becomeOpen) {
                enqueue(entry.key, .becomeOpen)
            }
        }
    }

    /// Ends it.
    mutating func invalidate(_ key: ActivityKey) {
        guard let activity = activities.removeValue(forKey: key) else { return }
        order.removeAll { $0 == key }
        if current == key { current = nil }
        queue.removeAll { $0.key == key }
        guard activity.place == .asked || activity.path != nil else { return }
        leftovers.insert(key)
        leftoverPaths[key] = activity.path
        queue.append(Entry(key: key, step: .invalidate))
    }

    /// Has an activity created whose creation was refused before: something has changed.
    /// - Returns: whether that is so.
    private mutating func createAgain(_ key: ActivityKey) -> Bool {
        guard activities[key]?.place == .refused else { return false }
        activities[key]?.forgetBroker()
        // What waits for it would be sent too early, and is part of the creation.
        queue.removeAll { $0.key == key }
        enqueue(key, .create)
        enqueueStanding(key)
        return true
    }

    /// A broker that has just created it hears that it is current, or open.
    private mutating func enqueueStanding(_ key: ActivityKey) {
        if current == key {
            enqueue(key, .becomeCurrent)
        } else if activities[key]?.isOpen == true {
            enqueue(key, .becomeOpen)
        }
    }

    private mutating func enqueue(_ key: ActivityKey, _ step: Step) {
        // Without a broker, all of it follows from what is wanted once there is one.
        if isRegistered { queue.append(Entry(key: key, step: step)) }
    }

    private func isQueued(_ key: ActivityKey, _ step: Step) -> Bool {
        queue.contains(Entry(key: key, step: step))
    }

    /// What has to be said of which activity is not current any more, because the present broker will not say it: to it,
    /// the activity never was.
    private mutating func tellForBroker() -> [Event] {
        order.compactMap { key in
            guard let activity = activities[key], !activity.isCurrentThere,
                key != current || activity.place == .refused
            else { return nil }
            return tell(key, isCurrent: false)
        }
    }

    private mutating func tell(_ key: ActivityKey, isCurrent: Bool) -> Event? {
        guard let activity = activities[key], activity.toldCurrent != isCurrent else { return nil }
        activities[key]?.toldCurrent = isCurrent
        return .currentChanged(key, isCurrent)
    }

    // MARK: What becomes of the broker

    /// The application is registered with a broker that has none of the activities.
    mutating func registered() -> [Event] {
        forgetBroker()
        isRegistered = true
        for key in order { enqueue(key, .create) }
        // In the order in which they were used.
        let used = order.sorted { activities[$0]?.openedAs ?? 0 < activities[$1]?.openedAs ?? 0 }
        for key in used where key != current { enqueueStanding(key) }
        if let current { enqueueStanding(current) }
        return tellForBroker()
    }

    /// The broker is gone, or knows the application no longer: nothing is current until one says so again.
    mutating func ended() -> [Event] {
        forgetBroker()
        isRegistered = false
        return order.compactMap { tell($0, isCurrent: false) }
    }

    private mutating func forgetBroker() {
        for key in order { activities[key]?.forgetBroker() }
        (leftovers, leftoverPaths, queue, underWay) = ([], [:], [], [])
    }

    // MARK: What is sent, and what is answered

    /// What is to be sent now. Each call has to be answered, in order, by ``created(_:at:)``, ``accepted(_:)`` or
    /// ``refused(_:_:)``, unless ``ended()`` or ``registered()`` comes before.
    mutating func take() -> [Call] {
        var calls: [Call] = []
        while underWay.count < Self.maximumUnderWay, let entry = queue.first {
            if isObsolete(entry) {
                queue.removeFirst()
                continue
            }
            guard let call = call(for: entry) else { break }
            queue.removeFirst()
            underWay.append(entry)
            calls.append(call)
            // Properties that have to be tried one by one.
            if entry.step == .update, activities[entry.key]?.hasChanges == true { queue.insert(entry, at: 0) }
        }
        return calls
    }

    /// Whether there is nothing behind `entry` any more.
    private func isObsolete(_ entry: Entry) -> Bool {
        if entry.step == .invalidate { return !leftovers.contains(entry.key) }
        guard let activity = activities[entry.key] else { return true }
        return activity.place == .refused || entry.step == .update && !activity.hasChanges
    }

    /// The call that `entry` stands for; nil if it has to wait.
    private mutating func call(for entry: Entry) -> Call? {
        let key = entry.key
        if entry.step == .invalidate {
            return leftoverPaths[key].map { .invalidate(key, $0) }
        }
        guard let activity = activities[key] else { return nil }
        if entry.step == .create {
            let properties = activities[key]?.create() ?? [:]
            return .create(key, type: activity.type, properties: properties)
        }
        guard let path = activity.path else { return nil }
        switch entry.step {
        case .update:
            guard !activity.isUnderWay else { return nil }
            return .update(key, path, activities[key]?.takeChanges() ?? [:])
        case .becomeCurrent: return .becomeCurrent(key, path)
        case .resignCurrent: return .resignCurrent(key, path)
        case .leaveCurrent: return .leaveCurrent(key, path)
        case .becomeOpen: return .becomeOpen(key, path)
        case .create, .invalidate: return nil
        }
    }

    /// The broker has created the activity at `path`.
    mutating func created(_ key: ActivityKey, at path: ObjectPath) -> [Event] {
        answered(key, .create)
        if leftovers.contains(key) {
            leftoverPaths[key] = path
            return []
        }
        guard activities[key] != nil else { return [] }
        activities[key]?.created(at: path)
        return [.created(key, path)]
    }

    /// The broker has done `step`, which is not its creation.
    mutating func accepted(_ key: ActivityKey, _ step: Step) {
        answered(key, step)
        if step == .update { activities[key]?.accepted() }
        if step == .invalidate { forgetLeftover(key) }
    }

    private mutating func forgetLeftover(_ key: ActivityKey) {
        leftovers.remove(key)
        leftoverPaths[key] = nil
    }

    /// The broker has refused `step`.
    mutating func refused(_ key: ActivityKey, _ step: Step, _ failure: DBusError) -> [Event] {
        answered(key, step)
        if step == .invalidate || step == .create { forgetLeftover(key) }
        guard activities[key] != nil else { return [] }
        switch step {
        case .create:
            let hasChanged = activities[key]?.hasChanges == true
            activities[key]?.refusedToCreate()
            // What was set since may be what it takes.
            if hasChanged { _ = createAgain(key) }
        case .update:
            guard let restored = activities[key]?.refused() else {
                // These go first: what was set since then comes after them.
                queue.insert(Entry(key: key, step: .update), at: 0)
                return []
            }
            return [.refused(key, failure, restored: restored)]
        case .becomeCurrent:
            if current == key { current = nil }
            activities[key]?.openedAs = nil
        case .becomeOpen: activities[key]?.openedAs = nil
        case .resignCurrent, .leaveCurrent, .invalidate: break
        }
        return [.refused(key, failure, restored: [:])] + tellForBroker()
    }

    private mutating func answered(_ key: ActivityKey, _ step: Step) {
        if let place = underWay.firstIndex(of: Entry(key: key, step: step)) { underWay.remove(at: place) }
    }

    // MARK: What the broker says by itself

    /// Which of its properties the broker has changed at `path`.
    mutating func changed(at path: ObjectPath, _ properties: [String: Value]) -> [Event] {
        guard let key = key(at: path) else { return [] }
        var events: [Event] = []
        if case .boolean(let isCurrent)? = properties["Current"] {
            // While it is about to be told otherwise, what it says is older than what is wanted.
            let isDecided =
                underWay.contains { Self.decidesCurrent($0, key) }
                || queue.contains { Self.decidesCurrent($0, key) }
            if !isDecided {
                if isCurrent { current = key } else if current == key { current = nil }
            }
            activities[key]?.isCurrentThere = isCurrent
            if let event = tell(key, isCurrent: isCurrent) { events.append(event) }
        }
        if let value = properties["NeedsSave"], case .boolean(let needsSave) = value,
            activities[key]?.isAboutToTell("NeedsSave") == false,
            activities[key]?.properties["NeedsSave"] ?? .boolean(false) != value
        {
            activities[key]?.noted("NeedsSave", value)
            events.append(.needsSaveChanged(key, needsSave))
        }
        return events
    }

    private static func decidesCurrent(_ entry: Entry, _ key: ActivityKey) -> Bool {
        entry.step == .becomeCurrent || entry.key == key && entry.step.endsCurrent
    }

    /// The application has answered a question of the broker with `properties`.
    mutating func answeredSave(_ key: ActivityKey, _ properties: [String: Value]) {
        activities[key]?.answered(properties)
    }
}
