// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Looks at files on threads of their own, since a file system that does not answer stops whoever asks it. A thread that
/// it stops is there as long as that goes on, so only so many are at a time.
@MainLoop
final class FileLooks {
    /// What is looked for. Each has a number of threads of its own, so that what peers can cause keeps nobody from what
    /// the user wants.
    enum Purpose: CaseIterable {
        /// What sync clients share.
        case syncClients
        /// Where the documents of activities are.
        case namedDocument
        /// What has been synchronised to this machine.
        case sharedCopy
        /// What kind of document is to be opened, and with what.
        case openedDocument
        /// A document that a sandboxed application is to be given.
        case portal
        /// The program of an application, and starting it.
        case starting

        /// How many looks there may be at a time, whether or not anybody waits for them.
        var maximum: Int {
            switch self {
            case .syncClients: 1
            case .sharedCopy: 16
            case .namedDocument, .openedDocument, .portal, .starting: 8
            }
        }

        /// What is refused if there are too many.
        fileprivate var text: String {
            switch self {
            case .syncClients: "looking for the folders of sync clients"
            case .namedDocument: "looking for the document"
            case .sharedCopy: "looking into the shared folder"
            case .openedDocument: "opening the document"
            case .portal: "giving the application access to the document"
            case .starting: "starting the application"
            }
        }
    }

    /// How long anybody waits for a look that is not needed.
    static let patience = Duration.milliseconds(500)
    /// How long anybody waits for a look that is.
    static let longPatience = Deadline.documentOpening

    /// How many have not come back, whether or not anybody waits for them.
    private var underWay: [Purpose: Int] = [:]

    init() {}

    /// What `body` returns; nil if it takes longer than ``patience``, or if too many others do.
    func look<Result: Sendable>(
        _ purpose: Purpose, _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        try? await find(purpose, within: Self.patience, body)
    }

    /// What `body` returns.
    /// - Parameter time: how long to wait for it; nil for however long it takes.
    /// - Throws: what `body` throws; `ConnectionUnavailable` if it takes longer than `time`; `LimitsExceeded` if too many
    ///   others still do.
    func find<Result: Sendable>(
        _ purpose: Purpose, within time: Duration? = longPatience,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let count = underWay[purpose, default: 0]
        guard count < purpose.maximum else {
            throw HandoffFailure(
                .limitsExceeded,
                "A file system does not answer: \(purpose.text) is refused, since \(count) that began before are still"
                    + " waiting for it. Try again when it answers, or unmount it.")
        }
        underWay[purpose] = count + 1
        let awaited = Awaited<Swift.Result<Result, any Error>>()
        do {
            try BackgroundThread.start("file look") { [self] in
                let result = Swift.Result { try body() }
                MainLoop.start {
                    self.underWay[purpose, default: 1] -= 1
                    awaited.come(result)
                }
            }
        } catch {
            underWay[purpose] = count
            throw HandoffFailure(
                .limitsExceeded, "There is no thread left for \(purpose.text). Try again later.")
        }
        guard let result = await awaited.value(within: time) else {
            throw HandoffFailure(
                .connectionUnavailable,
                "A file system does not answer: \(purpose.text) takes too long. Try again when it answers, or unmount"
                    + " it.")
        }
        return try result.get()
    }
}
