// SPDX-License-Identifier: LGPL-2.1-or-later
internal import FoundationEssentials
internal import Platform

/// What comes through a stream. Who wants it takes what is there; only for what has to be waited for there is a thread. No
/// byte is copied after the kernel has.
final class IncomingBytes: Sendable {
    private struct Reader<Success: Sendable> {
        let number: UInt64
        let continuation: Handover<Success, any Error>
    }

    private struct State {
        /// How many loops read; without any, what comes while the end is waited for is thrown away.
        var loops = 0
        var isCancelled = false
        /// Whether somebody is reading at this moment, which one alone can.
        var isReading = false
        /// What was read for somebody who waits no more.
        var chunks: [Data] = []
        /// How it has ended: nil for not yet, inside of it nil for in order.
        var end: HandoffError??
        var numbers: UInt64 = 0
        /// Who waits for a piece, first come first served.
        var readers: [Reader<Data?>] = []
        /// Who waits for the end.
        var waiters: [Reader<Void>] = []

        /// Whether the end is waited for, and what comes before it is for nobody.
        var isDiscarding: Bool { loops == 0 && readers.isEmpty && !waiters.isEmpty }

        /// Whether the thread has something to read for.
        var wantsMore: Bool { !isReading && chunks.isEmpty && (!readers.isEmpty || isDiscarding) }

        mutating func newNumber() -> UInt64 {
            numbers += 1
            return numbers
        }
    }

    private let socket: StreamSocketEnd
    private let thread = StreamThread("handoff reading")
    private let state = Monitor(State()) { $0.isCancelled || $0.end != nil || $0.wantsMore }

    init(_ socket: StreamSocketEnd) { self.socket = socket }

    /// A loop that reads, for as long as it is kept.
    final class Loop: Sendable {
        private let incoming: IncomingBytes

        init(_ incoming: IncomingBytes) {
            self.incoming = incoming
            incoming.state.change { $0.loops += 1 }
        }

        deinit {
            incoming.state.change { $0.loops -= 1 }
            incoming.settle()
        }
    }

    /// Makes the thread end once what it waits for has returned.
    func cancel() { state.change { $0.isCancelled = true } }

    /// The next piece, for a caller on `actor`; nil at the end.
    func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
        try socket.use()
        if Task.isCancelled { throw HandoffError.cancelled }
        if let chunk = readAtOnce() { return chunk }
        let number = state.change { $0.newNumber() }
        return try await withTaskCancellationHandler {
            // Whatever captures the actor stays on it, and visits no thread of libdispatch's pool.
            _ = actor
            let continuation = Handover<Data?, any Error>()
            state.change { $0.readers.append(Reader(number: number, continuation: continuation)) }
            if Task.isCancelled { forget(number) }
            settle()
            begin()
            return try await continuation.take()
        } onCancel: {
            forget(number)
        }
    }

    /// Waits until everything has been read, or thrown away if nobody reads, for a caller on `actor`.
    func waitForEnd(isolation actor: isolated (any Actor)?) async throws {
        try socket.use()
        let number = state.change { $0.newNumber() }
        try await withTaskCancellationHandler {
            _ = actor
            let continuation = Handover<Void, any Error>()
            state.change { $0.waiters.append(Reader(number: number, continuation: continuation)) }
            if Task.isCancelled { forget(number) }
            settle()
            begin()
            try await continuation.take()
        } onCancel: {
            forget(number)
        }
    }

    /// Who has this number waits no more.
    private func forget(_ number: UInt64) {
        let (reader, waiter) = state.change { state in
            let reader = state.readers.first { $0.number == number }
            let waiter = state.waiters.first { $0.number == number }
            state.readers.removeAll { $0.number == number }
            state.waiters.removeAll { $0.number == number }
            return (reader, waiter)
        }
        reader?.continuation.resume(throwing: HandoffError.cancelled)
        waiter?.continuation.resume(throwing: HandoffError.cancelled)
    }

    /// Gives to those who wait what there is for them.
    private func settle() {
        while let resume = state.change({ Self.resumption(&$0) }) { resume() }
    }

    /// How somebody can be given what he waits for; nil if there is nothing for anybody.
    private static func resumption(_ state: inout State) -> (() -> Void)? {
        if state.isDiscarding { state.chunks = [] }
        if let reader = state.readers.first {
            if !state.chunks.isEmpty {
                let chunk = state.chunks.removeFirst()
                state.readers.removeFirst()
                return { reader.continuation.resume(returning: chunk) }
            }
            guard let end = state.end else { return nil }
            state.readers.removeFirst()
            return { reader.continuation.resume(with: end.map { .failure($0) } ?? .success(nil)) }
        }
        guard state.chunks.isEmpty, let end = state.end, !state.waiters.isEmpty else { return nil }
        let waiter = state.waiters.removeFirst()
        return { waiter.continuation.resume(with: end.map { .failure($0) } ?? .success(())) }
    }

    // MARK: Reading

    /// What is there without waiting; nil if there is nothing.
    private func readAtOnce() -> Data? {
        let isFree = state.change { state in
            guard state.readers.isEmpty, state.chunks.isEmpty, state.end == nil, !state.isReading,
                !state.isCancelled
            else { return false }
            state.isReading = true
            return true
        }
        guard isFree else { return nil }
        let chunk = read(waits: false)
        state.change { $0.isReading = false }
        settle()
        return chunk
    }

    /// Reads a piece; at the end, or if there is nothing and it does not wait, nil.
    private func read(waits: Bool) -> Data? {
        // A stream on which nothing comes takes no memory for it.
        if waits { socket.waitForBytes() }
        let chunk = Chunk.take()
        switch socket.read(chunk.bytes, waits: waits) {
        case .bytes(0): chunk.giveBack()
        case .bytes(let count): return chunk.data(count)
        case .end:
            chunk.giveBack()
            end(nil)
        case .broken(let code):
            chunk.giveBack()
            end(StreamDirection.reading.failure(code))
        }
        return nil
    }

    private func end(_ error: HandoffError?) {
        state.change { state in
            if state.end == nil { state.end = .some(error) }
        }
        settle()
    }

    // MARK: The thread

    /// Starts the thread, once.
    private func begin() {
        do throws(GLibError) {
            try thread.begin { [self] in run() }
        } catch {
            end(StreamDirection.reading.hasNoThread(error))
        }
    }

    private func run() {
        while isWanted() {
            let chunk = read(waits: true)
            let hasEnded = state.change { state in
                state.isReading = false
                if let chunk { state.chunks.append(chunk) }
                return state.end != nil
            }
            settle()
            if hasEnded { return }
        }
        end(StreamDirection.reading.ended)
    }

    /// Waits until somebody waits for bytes, or for the end with nobody to read what comes before.
    /// - Returns: false if nobody wants anything any more.
    private func isWanted() -> Bool {
        state.wait { state in
            if state.isCancelled || state.end != nil { return false }
            guard state.wantsMore else { return nil }
            state.isReading = true
            return true
        }
    }
}
