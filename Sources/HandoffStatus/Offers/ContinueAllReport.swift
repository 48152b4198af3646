// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// How far several activities of peers are that are continued by one choice (`ContinueAll`), as the broker has said last.
package struct ContinueAllReport: Equatable, Sendable {
    /// One of them.
    package struct Entry: Equatable, Sendable {
        /// The activity, as it was when it was chosen.
        package let offer: RemoteOffer
        /// What the broker has said of it; nil before.
        private var result: ContinueAllRun.Result?

        fileprivate init(_ offer: RemoteOffer) { self.offer = offer }

        /// What has become of it.
        package var state: ContinueAllRun.Result.State { result?.state ?? .waiting }
        /// The application that it was or is to be continued by; empty if that is not known.
        package var applicationID: String { result?.applicationID ?? "" }

        /// How it ended; nil as long as it has not.
        package var outcome: ContinueCall.Outcome? {
            guard let result, result.state.isOver else { return nil }
            return ContinueCall.Outcome(
                applicationID: result.applicationID, errorName: result.errorName,
                message: FailureText.words(of: result.message, from: result.applicationID, offer.title))
        }

        fileprivate mutating func update(_ new: ContinueAllRun.Result) {
            // What was asked for may be answered after what has happened since.
            if new.state >= state { result = new }
        }
    }

    /// All of them, in the order in which they were chosen.
    package private(set) var entries: [Entry]

    /// A report of `offers`, none of which has begun.
    package init(_ offers: [RemoteOffer]) { entries = offers.map { Entry($0) } }

    /// Takes over the properties of `org.example.Handoff.ContinueAll` that are in `changed`.
    package mutating func update(_ changed: [String: Value]) {
        for result in ContinueAllRun.Result.all(in: changed["Results"]) {
            guard let index = entries.firstIndex(where: { $0.offer.path == result.activity }) else {
                continue
            }
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
