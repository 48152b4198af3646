// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffStatus
internal import Platform

/// The continuations that this window has begun, and those of them that have failed.
package struct Attempts: Equatable, Sendable {
    /// How far one is.
    package enum Standing: Equatable, Sendable {
        /// The broker was asked and has not said how it ended.
        case running(application: String?)
        /// It has failed for this reason.
        case failed(application: String?, reason: String)
    }

    /// What has failed, and is offered no longer.
    package struct Lost: Equatable, Sendable {
        package let title: String
        package let reason: String
    }

    private var standings: [ObjectPath: Standing] = [:]
    private var titles: [ObjectPath: String] = [:]
    /// What was lost last, until something else is tried.
    package private(set) var lost: Lost?

    /// None yet.
    package init() {}

    /// How far that of the offer at `path` is; nil if there is none, or if it has succeeded.
    package subscript(path: ObjectPath) -> Standing? { standings[path] }

    /// Begins to continue the offer at `path`, which is called `title`, in `application` or the best one.
    /// - Returns: whether it has to be asked for; it has not while it is under way.
    package mutating func begin(_ path: ObjectPath, _ title: String, in application: String?) -> Bool {
        if case .running = standings[path] { return false }
        standings[path] = .running(application: application)
        (titles[path], lost) = (title, nil)
        return true
    }

    /// The application that was chosen last for the offer at `path`, for another attempt.
    package func application(of path: ObjectPath) -> String? {
        switch standings[path] {
        case .running(let application)?, .failed(let application, _)?: application
        case nil: nil
        }
    }

    /// The attempt at `path` is over.
    /// - Returns: what the user has to be told in another place than the offer's, because `offers` has others, but not that one
    ///   any more; nil for nothing.
    package mutating func finish(
        _ path: ObjectPath, _ outcome: Outcome, offers: [RemoteOffer]
    ) -> String? {
        let application = application(of: path)
        standings[path] = nil
        guard case .failed(let name, let message) = outcome, name != Self.cancelled else { return nil }
        let reason = message.isEmpty ? tr("It has failed, and no reason is known.") : message
        standings[path] = .failed(application: application, reason: reason)
        let isThere = offers.contains { $0.path == path }
        keep(only: offers)
        return isThere || offers.isEmpty ? nil : reason
    }

    /// Forgets the failures of offers that are gone.
    package mutating func keep(only offers: [RemoteOffer]) {
        let paths = Set(offers.map(\.path))
        for (path, standing) in standings where !paths.contains(path) {
            guard case .failed(_, let reason) = standing else { continue }
            lost = Lost(title: titles[path] ?? "", reason: reason)
            standings[path] = nil
        }
        titles = titles.filter { standings[$0.key] != nil }
    }

    private static let cancelled = "org.example.Handoff.Error.Cancelled"
}
