// SPDX-License-Identifier: LGPL-2.1-or-later

/// Several activities that are continued by one choice of the user, two at a time, in order. Of those that have a document of one
/// device one is continued at a time, since one document comes from there at a time.
package struct ContinuingAll: Sendable {
    /// What has become of one of them.
    package enum State: Hashable, Sendable {
        /// It has yet to begin.
        case waiting
        /// It is being continued.
        case continuing
        /// It was continued by this application; nil if that is not known.
        case continued(ApplicationID?, note: String)
        /// It was not.
        case failed(HandoffFailure)

        /// Whether nothing more comes of it.
        package var isOver: Bool {
            switch self {
            case .continued, .failed: true
            case .waiting, .continuing: false
            }
        }
    }

    /// How many are continued at the same time.
    package static let atOnce = 2

    /// What has become of each.
    package private(set) var states: [State]
    /// Whether the user does not want them any more.
    package private(set) var isCancelled = false

    /// Whose document each of them has, by its place.
    private let documents: [Int: DeviceID]

    /// So many, none of which has begun. `documents`: whose document each has that has one.
    package init(count: Int, documents: [Int: DeviceID] = [:]) {
        states = Array(repeating: .waiting, count: count)
        self.documents = documents
    }

    /// How many were continued.
    package var done: Int { states.count { if case .continued = $0 { true } else { false } } }
    /// How many were not.
    package var failed: Int { states.count { if case .failed = $0 { true } else { false } } }
    /// Whether nothing more comes of any.
    package var isOver: Bool { states.allSatisfy(\.isOver) }

    /// Which are to begin now; they count as being continued.
    package mutating func begin() -> [Int] {
        var running = states.indices.filter { states[$0] == .continuing }
        var begun: [Int] = []
        for index in states.indices where states[index] == .waiting && running.count < Self.atOnce {
            if let device = documents[index], running.contains(where: { documents[$0] == device }) {
                continue
            }
            states[index] = .continuing
            running.append(index)
            begun.append(index)
        }
        return begun
    }

    /// This is what became of one of them. Only the first time counts.
    package mutating func ended(_ index: Int, _ state: State) {
        guard states.indices.contains(index), !states[index].isOver, state.isOver else { return }
        states[index] = state
    }

    /// The user does not want them any more: those that have not begun never do.
    /// - Returns: those that are being continued.
    package mutating func cancel() -> [Int] {
        isCancelled = true
        for index in states.indices where states[index] == .waiting {
            states[index] = .failed(.cancelledBefore)
        }
        return states.indices.filter { states[$0] == .continuing }
    }
}
