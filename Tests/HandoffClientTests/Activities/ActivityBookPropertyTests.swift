// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import TestSupport
import Testing

@testable import HandoffClient

/// A broker as the contract describes it, for one client.
private struct ModelBroker {
    /// What it has, by where it has it.
    private(set) var activities: [ObjectPath: [String: Value]] = [:]
    private(set) var current: ObjectPath?
    /// What has become current or open, and was not resigned since.
    private(set) var open: Set<ObjectPath> = []
    private var count = 0
    /// What it has said and the client has not heard yet.
    var signals: [(ObjectPath, Bool)] = []

    enum Answer {
        case created(ObjectPath)
        case accepted
        case refused
    }

    /// Does what it is sent; a title that begins with “bad” is refused, and then nothing changes.
    mutating func perform(_ call: ActivityBook.Call) throws -> Answer {
        switch call {
        case .create(_, _, let properties):
            if isBad(properties) { return .refused }
            count += 1
            let path = try ObjectPath("/activities/\(count)")
            activities[path] = properties
            return .created(path)
        case .update(_, let path, let properties):
            try #require(activities[path] != nil)
            if isBad(properties) { return .refused }
            activities[path]?.merge(properties) { _, new in new }
        case .becomeCurrent(_, let path):
            try #require(activities[path] != nil)
            open.insert(path)
            setCurrent(path)
        case .resignCurrent(_, let path), .leaveCurrent(_, let path):
            try #require(activities[path] != nil)
            if call.step == .resignCurrent { open.remove(path) }
            if current == path { setCurrent(nil) }
        case .becomeOpen(_, let path):
            try #require(activities[path] != nil)
            open.insert(path)
        case .invalidate(_, let path):
            try #require(activities.removeValue(forKey: path) != nil)
            if current == path { current = nil }
        }
        return .accepted
    }

    /// Another application, or nobody, has the current activity from now on.
    mutating func setCurrent(_ path: ObjectPath?) {
        if path == current { return }
        if let current { signals.append((current, false)) }
        current = path
        if let path { signals.append((path, true)) }
    }

    private func isBad(_ properties: [String: Value]) -> Bool {
        properties["Title"]?.string?.hasPrefix("bad") == true
    }
}

/// A client and a broker that do things at random, what is sent arriving in order, but late.
private struct Play {
    var random: Seeded
    var book = ActivityBook()
    var broker: ModelBroker?
    /// What the application last called, for what it may still name.
    var alive: [ActivityKey] = []
    var last: UInt64 = 0
    /// What the application was told of which activity is current.
    var told: [ActivityKey: Bool] = [:]
    var sent: [ActivityBook.Call] = []

    init(_ seed: UInt64) { random = Seeded(seed) }

    mutating func hear(_ events: [ActivityBook.Event]) {
        for case .currentChanged(let key, let isCurrent) in events { told[key] = isCurrent }
    }

    mutating func step() throws {
        switch random.below(14) {
        case 0:
            last += 1
            alive.append(ActivityKey(last))
            book.create(ActivityKey(last), type: "", properties: ["Title": .string("\(last)")])
        case 1, 2, 3:
            guard let key = alive.randomElement(using: &random) else { return }
            let number = random.below(1000)
            let title = random.below(4) == 0 ? "bad" : "good"
            book.update(
                key, ["Title": .string("\(title) \(number)"), "ExpirationDate": .int64(Int64(number))])
        case 4, 5:
            if let key = alive.randomElement(using: &random) { hear(book.becomeCurrent(key)) }
        case 6: if let key = alive.randomElement(using: &random) { hear(book.resignCurrent(key)) }
        case 10: if let key = alive.randomElement(using: &random) { hear(book.leaveCurrent(key)) }
        case 11: if let key = alive.randomElement(using: &random) { book.becomeOpen(key) }
        case 7:
            guard random.below(3) == 0, let key = alive.randomElement(using: &random) else { return }
            alive.removeAll { $0 == key }
            told[key] = nil
            book.invalidate(key)
        case 8: if random.below(4) == 0 { restart() }
        case 9: if random.below(4) == 0 { broker?.setCurrent(nil) }
        default: try exchange()
        }
    }

    /// The broker ends, or another one comes.
    mutating func restart() {
        sent = []
        if broker != nil, random.below(2) == 0 {
            broker = nil
            hear(book.ended())
            #expect(!told.values.contains(true))
        } else {
            broker = ModelBroker()
            hear(book.registered())
        }
    }

    /// One turn: what is to be sent is sent, or something that was sent is done and answered.
    mutating func exchange() throws {
        if random.below(2) == 0 { sent += book.take() }
        guard broker != nil, !sent.isEmpty else { return }
        let call = sent.removeFirst()
        switch try broker?.perform(call) {
        case .created(let path): hear(book.created(call.key, at: path))
        case .accepted: book.accepted(call.key, call.step)
        case .refused: hear(book.refused(call.key, call.step, .limitsExceeded("")))
        case nil: break
        }
        let signals = broker?.signals ?? []
        broker?.signals = []
        for (path, isCurrent) in signals { hear(book.changed(at: path, ["Current": .boolean(isCurrent)])) }
    }

    /// Goes on until nothing is left to be sent or answered.
    mutating func settle() throws {
        if broker == nil { restart() }
        var rounds = 0
        repeat {
            try exchange()
            rounds += 1
            try #require(rounds < 100_000)
        } while !book.isSettled || !sent.isEmpty || broker?.signals.isEmpty == false
    }
}

@Suite("Whatever happens to a client and its brokers")
struct ActivityBookPropertyTests {
    @Test(
        "in the end the broker has what the application wants, and the application knows it",
        arguments: 0..<300)
    func convergence(seed: UInt64) throws {
        var play = Play(seed)
        for _ in 0..<200 { try play.step() }
        try play.settle()
        let broker = try #require(play.broker)
        // What is still refused is not there.
        let created = play.alive.filter { play.book.activities[$0]?.path != nil }
        #expect(broker.activities.count == created.count)
        for key in created {
            let activity = try #require(play.book.activities[key])
            let path = try #require(activity.path)
            #expect(broker.activities[path] == activity.properties)
            #expect(play.told[key, default: false] == (broker.current == path))
            #expect(activity.isOpen == broker.open.contains(path))
        }
        for key in play.alive where !created.contains(key) {
            #expect(play.book.activities[key]?.properties["Title"]?.string?.hasPrefix("bad") == true)
        }
    }
}
