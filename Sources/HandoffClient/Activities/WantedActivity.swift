// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

/// An activity as the application wants it, beside what the broker of the moment has of it.
struct WantedActivity: Equatable {
    /// How far the broker is with it.
    enum Place: Equatable {
        /// It has nothing of it.
        case nowhere
        /// It was asked to create it.
        case asked
        /// It has it there.
        case at(ObjectPath)
        /// It has refused to create it.
        case refused
    }

    /// The type to create it with; empty for the first one that is declared.
    let type: String
    /// All properties that are set.
    private(set) var properties: [String: Value]
    /// How far the broker is with it.
    private(set) var place = Place.nowhere
    /// What the application was last told of whether it is current.
    var toldCurrent = false
    /// Whether it is to be open with the next broker too: it was opened, or has been current, and was not resigned since.
    var isOpen: Bool { openedAs != nil }
    /// More than that of any activity that was opened before; nil if it is not open.
    var openedAs: Int?
    /// What the present broker has last said of whether it is current.
    var isCurrentThere = false
    /// The properties that the broker has, as far as it has answered.
    private var confirmed: [String: Value] = [:]
    /// What was sent and is not answered yet. Only one message at a time is under way, so that a broker that does not read
    /// is not sent more and more.
    private var underWay: [String: Value]?
    /// The properties that have to be sent.
    private var changed: Set<String> = []
    /// Properties that were refused together, each of which is to be tried by itself, in this order.
    private var alone: [String] = []

    /// An activity that no broker has heard of.
    init(type: String, properties: [String: Value]) {
        self.type = type
        self.properties = properties
    }

    /// Where the broker has it, nil if it does not.
    var path: ObjectPath? { if case .at(let path) = place { path } else { nil } }

    /// Whether there is something to send once the broker has answered what is under way.
    var hasChanges: Bool { !changed.isEmpty || !alone.isEmpty }

    /// Whether an answer has to come before more can be sent.
    var isUnderWay: Bool { underWay != nil }

    /// Whether what the broker says of `property` is older than what it will be told.
    func isAboutToTell(_ property: String) -> Bool {
        changed.contains(property) || alone.contains(property) || underWay?[property] != nil
    }

    // MARK: What the application wants

    /// The application sets `properties`.
    mutating func set(_ properties: [String: Value]) {
        self.properties.merge(properties) { _, new in new }
        guard place != .nowhere, place != .refused else { return }
        changed.formUnion(properties.keys)
        alone.removeAll { properties[$0] != nil }
    }

    /// The application has said `properties` to the broker itself, in answer to a question.
    mutating func answered(_ properties: [String: Value]) {
        self.properties.merge(properties) { _, new in new }
        confirmed.merge(properties) { _, new in new }
    }

    /// The broker has set `property` by itself.
    mutating func noted(_ property: String, _ value: Value) {
        properties[property] = value
        confirmed[property] = value
    }

    // MARK: What the broker is told

    /// There is a new broker, or none: what the former one had counts for nothing.
    mutating func forgetBroker() {
        (place, confirmed, underWay, changed, alone) = (.nowhere, [:], nil, [], [])
        isCurrentThere = false
    }

    /// The broker is asked to create it, with the properties that are returned.
    mutating func create() -> [String: Value] {
        (place, underWay, changed, alone) = (.asked, properties, [], [])
        return properties
    }

    /// What to send next; empty if there is nothing.
    mutating func takeChanges() -> [String: Value] {
        let keys: [String]
        if alone.isEmpty {
            keys = Array(changed)
            changed = []
        } else {
            keys = [alone.removeFirst()]
        }
        let properties = properties.filter { keys.contains($0.key) }
        underWay = properties.isEmpty ? nil : properties
        return properties
    }

    // MARK: What the broker answers

    /// It has created it.
    mutating func created(at path: ObjectPath) {
        place = .at(path)
        accepted()
    }

    /// It has refused to create it.
    mutating func refusedToCreate() { (place, underWay, changed, alone) = (.refused, nil, [], []) }

    /// It has taken over what was under way.
    mutating func accepted() {
        confirmed.merge(underWay ?? [:]) { _, new in new }
        underWay = nil
    }

    /// It has refused what was under way. If that was one property, it has the former value again.
    /// - Returns: the values that the refused properties have again, nil for those that were never set; nil if it is not
    ///   known yet which of them was refused.
    mutating func refused() -> [String: Value?]? {
        let refused = underWay ?? [:]
        underWay = nil
        if refused.count > 1 {
            // All or none was taken: one bad property must not cost the others.
            alone += refused.keys.filter { !changed.contains($0) }.sorted()
            return nil
        }
        var restored: [String: Value?] = [:]
        // What was set again since is newer than the refusal.
        for key in refused.keys where !changed.contains(key) {
            properties[key] = confirmed[key]
            restored[key] = .some(confirmed[key])
        }
        return restored
    }
}
