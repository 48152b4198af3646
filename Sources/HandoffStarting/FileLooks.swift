// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
package import MainLoop
internal import Platform

/// Looks at files on threads of their own, since a file system that does not answer stops whoever asks it. A thread that
/// it stops is there as long as that goes on, so only so many are at a time.
@MainLoop
package final class FileLooks {
    /// What is looked for. Each has a number of threads of its own, so that what peers can cause keeps nobody from what
    /// the user wants.
    package enum Purpose: CaseIterable {
        /// What sync clients share.
        case syncClients
        /// Where the documents of activities are.
        case namedDocument
        /// What has been synchronised to this machine.
        case sharedCopy
        /// What kind of document is to be opened, and with what.
        case openedDocument
        /// What is here already of a document that comes.
        case knownDocument
        /// A document that is to be sent to a peer.
        case sentDocument
        /// A document that a sandboxed application is to be given.
        case portal
        /// The program of an application, and starting it.
        case starting

        /// How many looks there may be at a time, whether or not anybody waits for them.
        package var maximum: Int {
            switch self {
            case .syncClients: 1
            case .sharedCopy: 16
            case .knownDocument: 4
            case .namedDocument, .openedDocument, .sentDocument, .portal, .starting: 8
            }
        }

        /// What is refused if there are too many.
        fileprivate var text: String {
            switch self {
            case .syncClients: "looking for the folders of sync clients"
            case .namedDocument: "looking for the document"
            case .sharedCopy: "looking into the shared folder"
            case .openedDocument: "opening the document"
            case .knownDocument: "looking for the document that is here already"
            case .sentDocument: "opening the document on the device that it comes from"
            case .portal: "giving the application access to the document"
            case .starting: "starting the application"
            }
        }
    }

    /// How long anybody waits for a look that is not needed.
    package static let patience = Duration.milliseconds(500)
    /// How long anybody waits for a look that is.
    package static let longPatience = Deadline.documentOpening

    /// A look that has not come back, whether or not anybody waits for it.
    private struct Look {
        let purpose: Purpose
        let subject: String?
        /// When it takes so long that its subject must be taken for one that does not answer.
        let overdue: Instant
    }

    private var underWay: [Int: Look] = [:]
    private var nextNumber = 0

    /// Nothing is looked at yet.
    package init() {}

    /// What `body` returns; nil if it takes longer than ``patience``, or if too many others do.
    package func look<Result: Sendable>(
        _ purpose: Purpose, of subject: String? = nil, _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        try? await find(purpose, of: subject, within: Self.patience, body)
    }

    /// What `body` returns.
    /// - Parameters:
    ///   - subject: what is looked at. As long as a look at that is overdue there is no other one, so that what does not
    ///     answer takes one thread, however often it is asked for, and leaves the others to what does.
    ///   - time: how long to wait for it; nil for however long it takes.
    /// - Throws: what `body` throws; `ConnectionUnavailable` if it takes longer than `time`, or another look at `subject`
    ///   already does; `LimitsExceeded` if too many others do.
    package func find<Result: Sendable>(
        _ purpose: Purpose, of subject: String? = nil, within time: Duration? = longPatience,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let number = try begin(purpose, subject, within: time)
        let awaited = Awaited<Swift.Result<Result, any Error>>()
        do {
            try BackgroundThread.start("file look") { [self] in
                let result = Swift.Result { try body() }
                MainLoop.start {
                    self.underWay[number] = nil
                    awaited.come(result)
                }
            }
        } catch {
            underWay[number] = nil
            throw HandoffFailure(
                .limitsExceeded, "There is no thread left for \(purpose.text). Try again later.")
        }
        guard let result = await awaited.value(within: time) else { throw Self.noAnswer(purpose) }
        return try result.get()
    }

    /// - Returns: the number of the look that is under way from now on.
    private func begin(
        _ purpose: Purpose, _ subject: String?, within time: Duration?
    ) throws(HandoffFailure) -> Int {
        let (now, others) = (Instant.now, underWay.values.filter { $0.purpose == purpose })
        if let subject, others.contains(where: { $0.subject == subject && $0.overdue <= now }) {
            throw Self.noAnswer(purpose)
        }
        guard others.count < purpose.maximum else {
            throw HandoffFailure(
                .limitsExceeded,
                "A file system does not answer: \(purpose.text) is refused, since \(others.count) that began before are"
                    + " still waiting for it. Try again when it answers, or unmount it.")
        }
        nextNumber += 1
        underWay[nextNumber] = Look(
            purpose: purpose, subject: subject, overdue: now.advanced(by: time ?? Self.longPatience))
        return nextNumber
    }

    private static func noAnswer(_ purpose: Purpose) -> HandoffFailure {
        HandoffFailure(
            .connectionUnavailable,
            "A file system does not answer: \(purpose.text) takes too long. Try again when it answers, or unmount it."
        )
    }
}
