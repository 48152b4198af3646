// SPDX-License-Identifier: LGPL-2.1-or-later
internal import FoundationEssentials
internal import Platform

/// What comes through a stream. A thread reads it, a little ahead of whoever wants it, so that the one works while the
/// other waits; no byte is copied after the kernel has.
final class IncomingBytes: Sendable {
    private struct Reader<Success: Sendable> {
        let number: UInt64
        let continuation: CheckedContinuation<Success, any Error>
    }

    private struct State {
        var hasThread = false
        /// How many loops read; without any, what comes while the end is waited for is thrown away.
        var loops = 0
        var isCancelled = false
        /// What was read ahead.
        var chunks: [Data] = []
        /// How it has ended: nil for not yet, inside of it nil for in order.
        var end: HandoffError??
        var numbers: UInt64 = 0
        /// Who waits for a piece, first come first served.
        var readers: [Reader<Data?>] = []
        /// Who waits for the end.
        var waiters: [Reader<Void>] = []

        mutating func newNumber() -> UInt64 {
            numbers += 1
            return numbers
        }
    }

    /// How many pieces are read ahead.
    private static let ahead = 4

    private let socket: StreamSocketEnd
    private let state = Monitor(State())

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

    /// The next piece; nil at the end.
    func next() async throws -> Data? {
        try begin()
        let number = state.change { $0.newNumber() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.change { $0.readers.append(Reader(number: number, continuation: continuation)) }
                if Task.isCancelled { forget(number) }
                settle()
            }
        } onCancel: {
            forget(number)
        }
    }

    /// Waits until everything has been read, or thrown away if nobody reads.
    func waitForEnd() async throws {
        try begin()
        let number = state.change { $0.newNumber() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.change { $0.waiters.append(Reader(number: number, continuation: continuation)) }
                if Task.isCancelled { forget(number) }
                settle()
            }
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
        if state.loops == 0, state.readers.isEmpty, !state.waiters.isEmpty { state.chunks = [] }
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

    // MARK: The thread

    /// Starts the thread, once.
    private func begin() throws {
        try socket.use()
        let isFirst = state.change { state in
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard isFirst else { return }
        do throws(GLibError) {
            try BackgroundThread.start("handoff reading") { [self] in run() }
        } catch {
            end(HandoffError(.connectionUnavailable, "Nothing can be read: \(error.message)"))
        }
    }

    private func run() {
        while hasRoom() {
            let size = ContinuationStream.largestChunk
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
            switch socket.read(buffer) {
            case .bytes(let count):
                let chunk = Self.data(buffer, count)
                state.change { $0.chunks.append(chunk) }
                settle()
                continue
            case .end: end(nil)
            case .broken(let code): end(StreamSocketEnd.failure(code, "Reading"))
            }
            buffer.deallocate()
            return
        }
        end(StreamSocketEnd.ended("Reading"))
    }

    /// Waits until there is room for another piece.
    /// - Returns: false if nobody wants one any more.
    private func hasRoom() -> Bool {
        state.wait { state in
            if state.isCancelled { return false }
            return state.chunks.count < Self.ahead ? true : nil
        }
    }

    /// `count` bytes of `buffer`, which belongs to them from then on. Few bytes do not keep the whole of it.
    private static func data(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) -> Data {
        guard let start = buffer.baseAddress, count > buffer.count / 4 else {
            defer { buffer.deallocate() }
            return Data(buffer[..<count])
        }
        return Data(bytesNoCopy: start, count: count, deallocator: .custom { start, _ in start.deallocate() })
    }

    private func end(_ error: HandoffError?) {
        state.change { state in
            if state.end == nil { state.end = .some(error) }
        }
        settle()
    }
}
