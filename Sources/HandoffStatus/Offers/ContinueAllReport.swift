// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient

/// How far several activities of peers are that are continued by one choice (`ContinueAll`), as the broker has said last.
package struct ContinueAllReport: Equatable, Sendable {
    /// What has become of one of them.
    package enum State: String, Sendable {
        /// Its turn has not come.
        case waiting
        /// It is being continued.
        case continuing
        /// It was continued.
        case continued
        /// It was not, and is not going to be.
        case failed

        /// How far that is: none of them goes back.
        fileprivate var rank: Int {
            switch self {
            case .waiting: 0
            case .continuing: 1
            case .continued, .failed: 2
            }
        }
    }

    /// One of them.
    package struct Entry: Equatable, Sendable {
        /// The activity, as it was when it was chosen.
        package let offer: RemoteOffer
        /// What has become of it.
        package private(set) var state = State.waiting
        /// The application that it was or is to be continued by; empty if that is not known.
        package private(set) var applicationID = ""
        /// The name of the error, empty unless it has failed.
        package private(set) var errorName = ""
        /// What went wrong, or what there is to say of the document, in the words of whoever said so.
        package private(set) var message = ""

        fileprivate init(_ offer: RemoteOffer) { self.offer = offer }

        /// How it ended; nil as long as it has not.
        package var outcome: ContinueCall.Outcome? {
            guard state.rank == State.failed.rank else { return nil }
            return ContinueCall.Outcome(
                applicationID: applicationID, errorName: errorName,
                message: ContinueCall.words(message, of: applicationID, title: offer.title))
        }

        fileprivate mutating func update(_ result: [String: Value]) {
            // What was asked for may be answered after what has happened since.
            guard let new = State(rawValue: result.text("State")), new.rank >= state.rank else { return }
            state = new
            applicationID = result.text("ApplicationId")
            errorName = result.text("ErrorName")
            message = result.text("Message")
        }
    }

    /// All of them, in the order in which they were chosen.
    package private(set) var entries: [Entry]

    /// A report of `offers`, none of which has begun.
    package init(_ offers: [RemoteOffer]) { entries = offers.map { Entry($0) } }

    /// Takes over the properties of `org.example.Handoff.ContinueAll` that are in `changed`.
    package mutating func update(_ changed: [String: Value]) {
        for result in Value.propertyList(changed["Results"]) {
            guard case .objectPath(let path)? = result["Activity"],
                let index = entries.firstIndex(where: { $0.offer.path == path })
            else { continue }
            entries[index].update(result)
        }
    }

    /// How many were continued.
    package var done: Int { entries.count(where: { $0.state == .continued }) }
    /// How many were not, and are not going to be.
    package var failed: Int { entries.count(where: { $0.state == .failed }) }
    /// Whether nothing happens any more.
    package var isOver: Bool { done + failed == entries.count }
}
