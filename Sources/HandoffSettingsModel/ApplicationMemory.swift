// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is known of applications, by their ids. Other devices choose ids, as many as they like; so only what is shown is
/// remembered, and not without end. It looks nothing up itself: that takes files, and is for a thread.
package struct ApplicationMemory<Entry> {
    private var entries: [String: Entry?] = [:]
    private var asked: Set<String> = []
    private var outdated: Set<String> = []
    private var underWay: Set<String> = []

    /// How many applications it knows at most. What is shown beyond that goes without.
    package static var maximum: Int { 256 }

    /// Nothing is known yet.
    package init() {}

    /// What is known of `id`; nil if it is not installed, or that is not known yet.
    package mutating func entry(_ id: String) -> Entry? {
        if asked.count < Self.maximum { asked.insert(id) }
        return entries[id] ?? nil
    }

    /// All that is shown has been asked for since this was called last, or is among `shown`. Forgets the others.
    /// - Returns: what has to be looked up, all at once, and given to ``take(_:)``; nothing while such a look is under way.
    package mutating func settle(_ shown: Set<String> = []) -> [String] {
        let kept = asked.union(shown.subtracting(asked).sorted().prefix(Self.maximum - asked.count))
        asked = []
        entries = entries.filter { kept.contains($0.key) }
        guard underWay.isEmpty else { return [] }
        underWay = kept.filter { entries[$0] == nil || outdated.contains($0) }
        outdated = []
        return underWay.sorted()
    }

    /// The look at what ``settle(_:)`` has returned is over, and this was found; nil stands for what is not installed. What it
    /// did not look at is looked at again.
    package mutating func take(_ found: [String: Entry?]) {
        for (id, entry) in found where underWay.contains(id) { entries[id] = .some(entry) }
        underWay = []
    }

    /// Applications have come or gone: what is known stays until it was looked up again.
    package mutating func outdate() { outdated = underWay.union(entries.keys) }
}
