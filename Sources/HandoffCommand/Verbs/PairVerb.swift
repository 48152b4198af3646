// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop
internal import Platform

/// `handoff pair`: pairs with a device by comparing a code.
struct PairVerb: Verb {
    static let name = "pair"
    static let arguments: String? = "[DEVICE | ADDRESS]"
    static let summary = tr("Pair with a device by comparing six digits; without a name, wait for one to ask")
    static let completion = Completion.strangers

    private let device: String?

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(0...1, "pair [DEVICE | ADDRESS]").first
    }

    func run(in session: Session) async throws -> Int32 {
        let run = PairRun(try await session.bridge(), printsJSON: session.printsJSON)
        // The program that reads this output may end; even then, what was begun has to be ended.
        signal(SIGPIPE, SIG_IGN)
        let (outcomes, feed) = AsyncStream<Result<Void, any Error>>.makeStream()
        var isInterrupted = false
        let signals = EndingSignals {
            // When it happens a second time, the user does not want to wait for a bridge that does not
            // answer.
            if isInterrupted { exit(1) }
            isInterrupted = true
            feed.yield(.failure(PairRun.interrupted))
        }
        let device = device
        let work = MainLoop.start {
            do {
                try await run.pair(with: device)
                feed.yield(.success(()))
            } catch {
                feed.yield(.failure(error))
            }
        }
        var first: Result<Void, any Error>?
        for await outcome in outcomes {
            first = outcome
            break
        }
        work.cancel()
        await run.end()
        withExtendedLifetime(signals) {}
        try first?.get()
        return 0
    }
}
