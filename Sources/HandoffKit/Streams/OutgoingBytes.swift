// SPDX-License-Identifier: LGPL-2.1-or-later
internal import FoundationEssentials
internal import Platform

/// What goes out through a stream, piece after piece. What is short and finds room goes at once; for everything else a
/// thread waits.
final class OutgoingBytes: Sendable {
    /// What is to be done, and who waits for that. A piece of nothing is the end.
    private struct Piece {
        let number: UInt64
        let data: Data?
        var place = 0
        var continuation: Handover<Void, any Error>?
    }

    private struct State {
        var isCancelled = false
        /// Whether somebody writes without the thread.
        var isBusy = false
        var hasEnded = false
        var failure: HandoffError?
        var pieces: [Piece] = []
        var numbers: UInt64 = 0
    }

    /// How much goes without the thread, if there is room for it: copying it takes much less time than the thread needs to
    /// wake up, and little enough for a main loop.
    private static let shortLength = 256 << 10

    private let socket: StreamSocketEnd
    private let thread = StreamThread("handoff writing")
    private let state = Monitor(State()) { $0.isCancelled || (!$0.isBusy && !$0.pieces.isEmpty) }

    init(_ socket: StreamSocketEnd) { self.socket = socket }

    /// Makes the thread end once what it waits for has returned.
    func cancel() { state.change { $0.isCancelled = true } }

    /// Sends `data`, behind what was given before, for a caller on `actor`.
    func write(_ data: Data, isolation actor: isolated (any Actor)?) async throws(HandoffError) {
        try socket.use()
        try checkOpen()
        if data.isEmpty { return }
        let place = try writeAtOnce(data)
        guard place < data.count else { return }
        try await add(data, place, isolation: actor)
    }

    /// Nothing more is sent, once what was given before is, for a caller on `actor`.
    func finish(isolation actor: isolated (any Actor)?) async throws(HandoffError) {
        try socket.use()
        if state.change({ $0.hasEnded && $0.failure == nil && $0.pieces.isEmpty }) { return }
        try checkOpen()
        state.change { $0.hasEnded = true }
        try await add(nil, 0, isolation: actor)
    }

    private func checkOpen() throws(HandoffError) {
        let (failure, hasEnded, isCancelled) = state.change { ($0.failure, $0.hasEnded, $0.isCancelled) }
        if let failure { throw failure }
        if isCancelled { throw StreamDirection.writing.ended }
        if hasEnded {
            throw HandoffError(.notSupported, "Nothing can be written after the end. Write before finishing.")
        }
    }

    /// - Returns: how many bytes went without waiting. If that is a part of them, nobody else writes until the rest of
    ///   them has its place.
    private func writeAtOnce(_ data: Data) throws(HandoffError) -> Int {
        let isFree = state.change { state in
            guard state.pieces.isEmpty, !state.isBusy else { return false }
            state.isBusy = true
            return true
        }
        guard isFree else { return 0 }
        let length = min(data.count, Self.shortLength)
        var place = 0
        // Whoever has sent a part keeps the others out until the rest is the first piece.
        defer { if place == 0 || place == data.count { state.change { $0.isBusy = false } } }
        while place < length {
            switch send(data, from: place, upTo: length, waits: false) {
            case .bytes(0), .end: return place
            case .bytes(let count): place += count
            case .broken(let code):
                place = 0
                throw fail(StreamDirection.writing.failure(code))
            }
        }
        return place
    }

    private func send(_ data: Data, from place: Int, upTo end: Int, waits: Bool) -> StreamSocketEnd.Outcome {
        data.withUnsafeBytes {
            socket.write(UnsafeRawBufferPointer(rebasing: $0[place..<end]), waits: waits)
        }
    }

    private func add(
        _ data: Data?, _ place: Int, isolation actor: isolated (any Actor)?
    ) async throws(HandoffError) {
        let number = state.change {
            $0.numbers += 1
            return $0.numbers
        }
        do {
            try await withTaskCancellationHandler {
                // Whatever captures the actor stays on it, and visits no thread of libdispatch's pool.
                _ = actor
                let continuation = Handover<Void, any Error>()
                queue(Piece(number: number, data: data, place: place, continuation: continuation))
                if Task.isCancelled { forget(number) }
                begin()
                try await continuation.take()
            } onCancel: {
                forget(number)
            }
        } catch {
            throw HandoffError(error)
        }
    }

    /// Gives `piece` its place: the rest of what was begun comes first.
    private func queue(_ piece: Piece) {
        let failure = state.change { state -> HandoffError? in
            if piece.place > 0 { state.isBusy = false }
            if let failure = state.failure { return failure }
            state.pieces.insert(piece, at: piece.place > 0 ? 0 : state.pieces.count)
            return nil
        }
        if let failure { piece.continuation?.resume(throwing: failure) }
    }

    /// Who has this number waits no more. A piece goes its way nevertheless: the other side never gets a part of it.
    private func forget(_ number: UInt64) {
        let continuation = state.change { state -> Handover<Void, any Error>? in
            guard let index = state.pieces.firstIndex(where: { $0.number == number }) else { return nil }
            defer { state.pieces[index].continuation = nil }
            return state.pieces[index].continuation
        }
        continuation?.resume(throwing: HandoffError.cancelled)
    }

    @discardableResult
    private func fail(_ error: HandoffError) -> HandoffError {
        let continuations = state.change { state in
            if state.failure == nil { state.failure = error }
            defer { state.pieces = [] }
            return state.pieces.compactMap(\.continuation)
        }
        for continuation in continuations { continuation.resume(throwing: error) }
        return error
    }

    // MARK: The thread

    /// Starts the thread, once.
    private func begin() {
        do throws(GLibError) {
            try thread.begin { [self] in run() }
        } catch {
            fail(StreamDirection.writing.hasNoThread(error))
        }
    }

    private func run() {
        while let piece = nextPiece() {
            guard let data = piece.data else {
                socket.endWriting()
                done()
                continue
            }
            if let failure = write(data, from: piece.place) { fail(failure) } else { done() }
        }
        fail(StreamDirection.writing.ended)
    }

    /// - Returns: what prevented it.
    private func write(_ data: Data, from start: Int) -> HandoffError? {
        var place = start
        while place < data.count {
            switch send(data, from: place, upTo: data.count, waits: true) {
            case .bytes(let count): place += count
            case .broken(let code): return StreamDirection.writing.failure(code)
            case .end: return nil
            }
        }
        return nil
    }

    /// What has to be done next, which stays in its place until it is; nil if nobody wants anything any more.
    private func nextPiece() -> Piece? {
        let piece: Piece?? = state.wait { state in
            if state.isCancelled { return .some(nil) }
            guard !state.isBusy, let first = state.pieces.first else { return nil }
            return .some(first)
        }
        return piece ?? nil
    }

    /// The first piece is on its way.
    private func done() {
        let continuation = state.change { state in
            state.pieces.isEmpty ? nil : state.pieces.removeFirst().continuation
        }
        continuation?.resume()
    }
}
