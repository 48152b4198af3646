// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

/// The continuations that a client is handed: which were announced, which were handed over, and so whom a broker that dies
/// owes word.
struct ContinuationBook: Equatable {
    /// A continuation that was announced.
    struct Announced: Equatable {
        let key: ContinuationKey
        let type: String
        let path: ObjectPath
    }

    /// A continuation that does not come.
    struct Failed: Equatable {
        /// Which one; nil if it may be one of several.
        let key: ContinuationKey?
        let type: String
    }

    /// What was announced and neither handed over nor called off, the oldest first.
    private var announced: [Announced] = []
    /// How many of `announced` were called off, by type, where it was not said which.
    private var calledOff: [String: Int] = [:]
    /// Where the broker has those that it has named.
    private var paths: [ContinuationKey: ObjectPath] = [:]
    private var last: UInt64 = 0
    /// How many are kept at most. A broker has eight at a time, and says nothing of those that it drops.
    private static let maximumKept = 32

    /// Where the broker has it, nil if the continuation has ended.
    func path(of key: ContinuationKey) -> ObjectPath? { paths[key] }

    /// The broker announces the continuation at `path`.
    mutating func announce(_ path: ObjectPath, type: String) -> ContinuationKey {
        if let known = announced.first(where: { $0.path == path }) { return known.key }
        let key = key(for: path)
        announced.append(Announced(key: key, type: type, path: path))
        return key
    }

    /// The broker hands over the continuation at `path`, whether it was announced or not.
    mutating func handOver(_ path: ObjectPath) -> ContinuationKey {
        guard let place = announced.firstIndex(where: { $0.path == path }) else { return key(for: path) }
        let one = announced.remove(at: place)
        settle(one.type)
        return one.key
    }

    /// The broker says that something of this type is not coming.
    mutating func callOff(type: String) -> Failed {
        let candidates = announced.filter { $0.type == type }
        if candidates.count == 1, let one = candidates.first {
            announced.removeAll { $0 == one }
            paths[one.key] = nil
            calledOff[type] = nil
            return Failed(key: one.key, type: type)
        }
        if !candidates.isEmpty {
            calledOff[type, default: 0] += 1
            settle(type)
        }
        return Failed(key: nil, type: type)
    }

    /// The application needs no more of it.
    /// - Returns: where the broker has it, nil if it has ended already.
    mutating func release(_ key: ContinuationKey) -> ObjectPath? { paths.removeValue(forKey: key) }

    /// The broker is gone, or knows the application no longer.
    /// - Returns: what was announced, and does not come now.
    mutating func ended() -> [Failed] {
        var failed: [Failed] = []
        for one in announced {
            guard let off = calledOff[one.type], off > 0 else {
                failed.append(Failed(key: one.key, type: one.type))
                continue
            }
            // As many as were called off have had their word; which ones, nobody has said.
            calledOff[one.type] = off - 1
        }
        let unsure = Set(announced.map(\.type).filter { calledOff[$0] != nil })
        (announced, calledOff, paths) = ([], [:], [:])
        return failed.map { unsure.contains($0.type) ? Failed(key: nil, type: $0.type) : $0 }
    }

    private mutating func key(for path: ObjectPath) -> ContinuationKey {
        if let known = paths.first(where: { $0.value == path }) { return known.key }
        last += 1
        let key = ContinuationKey(last)
        paths[key] = path
        if paths.count > Self.maximumKept, let oldest = paths.keys.min(by: { $0.value < $1.value }) {
            paths[oldest] = nil
        }
        return key
    }

    /// If all that is left of a type was called off, there is no doubt any more.
    private mutating func settle(_ type: String) {
        guard let off = calledOff[type] else { return }
        let left = announced.filter { $0.type == type }
        guard left.count <= off else { return }
        for one in left { paths[one.key] = nil }
        announced.removeAll { $0.type == type }
        calledOff[type] = nil
    }
}
