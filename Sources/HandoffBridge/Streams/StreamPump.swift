// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform
internal import Synchronization

/// Moves the bytes of one stream between its two connections, each direction on a thread of its own, which
/// blocks while it reads and while it writes: so a slow reader slows the writer, and no more than one buffer
/// is under way. Both threads give way to the main loop, since the other device decides how much work they
/// have.
final class StreamPump: Sendable {
    /// How much has been moved.
    struct Progress: Sendable {
        /// Bytes from the application here.
        var outgoing: Int
        /// Bytes to the application here.
        var incoming: Int
    }

    private let application: ApplicationEnd
    private let transport: StreamTransport
    private let signal: StopSignal
    private let report: @Sendable (StreamLife.Event) -> Void
    private let outgoing = Atomic<Int>(0)
    private let incoming = Atomic<Int>(0)
    private let watch = SendingWatch()
    /// Called when bytes are sent after a pause.
    private let becameActive: @Sendable () -> Void

    /// The size of a buffer: a frame with its header, and one byte before it (see ``ApplicationEnd/read(_:)``).
    private static let bufferSize = StreamFrame.maximumSize

    /// - Parameter report: called on the threads.
    init(
        _ application: ApplicationEnd, _ transport: StreamTransport, _ signal: StopSignal,
        report: @escaping @Sendable (StreamLife.Event) -> Void, becameActive: @escaping @Sendable () -> Void
    ) {
        self.application = application
        self.transport = transport
        self.signal = signal
        self.report = report
        self.becameActive = becameActive
    }

    /// How much has been moved.
    var progress: Progress {
        Progress(outgoing: outgoing.load(ordering: .relaxed), incoming: incoming.load(ordering: .relaxed))
    }

    /// Whether anything was sent since this was last asked, or is being sent. If not, the next byte that is
    /// sent calls `becameActive`.
    var isSending: Bool { watch.isBusy() }

    /// Starts the threads. Each reports ``StreamLife/Event/threadEnded`` as its last event, also if the
    /// thread could not be started.
    func begin() {
        for (name, body) in [("stream out", send), ("stream in", receive)] {
            do throws(GLibError) {
                try BackgroundThread.start(name) {
                    BackgroundThread.giveWay()
                    body()
                    self.report(.threadEnded)
                }
            } catch {
                report(.failed(error.message))
                report(.threadEnded)
            }
        }
    }

    /// Makes both threads end. The application cannot write any more; what it reads is not affected yet.
    func stop() {
        // The transport is stopped first, so that the other device is not told that the direction has ended
        // in order.
        transport.stop()
        signal.send()
        application.stopReading()
    }

    // MARK: From the application

    private func write(_ frame: UnsafeRawBufferPointer) throws(GLibError) {
        if watch.begin() { becameActive() }
        defer { watch.end() }
        try transport.write(frame)
    }

    private func send() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        let data = UnsafeMutableRawBufferPointer(rebasing: buffer[StreamFrame.headerSize...])
        do {
            while case let count = try application.read(data), count > 0 {
                StreamFrame.write(count, into: buffer)
                let frame = buffer[..<(StreamFrame.headerSize + count)]
                try write(UnsafeRawBufferPointer(rebasing: frame))
                outgoing.add(count, ordering: .relaxed)
            }
            try sendEnd()
        } catch {
            application.stopReading()
            // What came before is still delivered; the other device has to learn that this is not an end in
            // order.
            transport.endWriting()
            return report(.sendingFailed("nothing more can be sent: \(error)"))
        }
        report(.outgoingEnded)
        if application.waitUntilClosed(unless: signal) { report(.applicationClosed) }
    }

    /// Sends the end of the direction. If reading was stopped, the connection was shut down before, and this
    /// fails.
    private func sendEnd() throws(GLibError) {
        let end = UnsafeMutableRawBufferPointer.allocate(byteCount: StreamFrame.headerSize, alignment: 4)
        defer { end.deallocate() }
        StreamFrame.write(0, into: end)
        try write(UnsafeRawBufferPointer(end))
    }

    // MARK: To the application

    /// What happens to what arrives.
    private enum Receiving {
        case delivering
        /// The application does not read any more, and what comes is thrown away. It has to be read all the
        /// same: only then is it seen here that the other device ends the stream, which cannot be cut before,
        /// since what the application wrote before it closed its end still has to arrive there.
        case discarding
        /// The other application has ended its direction.
        case ended
    }

    /// How many records are thrown away as fast as they come when the application has closed its end: 4 MiB if
    /// they are full, which is about as much as was under way. Records are counted, not bytes, since one of a
    /// single byte costs nearly as much as a full one.
    private static let thrownAwayAtOnce = 256
    /// How many records are taken at a time to be delivered: as many as the buffer has room for if they are full.
    /// More small ones would keep this thread reading for long before it sees that nobody wants them.
    private static let recordsOfBuffer = bufferSize / TLSConnection.recordSize
    /// How many records are taken at a time of what comes after that…
    private static let recordsAtATime = 4
    /// …and how long the pause after them is, in milliseconds: at first, and at most, since the other device may
    /// go on for ever.
    private static let (firstPause, longestPause): (Int32, Int32) = (16, 128)

    /// The pause once so many records have been thrown away: twice as long with each further lot.
    private static func pause(after records: Int) -> Int32 {
        let lots = min(records / thrownAwayAtOnce, 8)
        return lots == 0 ? 0 : min(firstPause << Int32(lots - 1), longestPause)
    }

    private func receive() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        var (reader, state, thrownAway) = (StreamFrameReader(), Receiving.delivering, 0)
        do {
            while true {
                let most = state == .discarding ? Self.recordsAtATime : Self.recordsOfBuffer
                let (count, records) = try fill(buffer, most)
                if count == 0 { break }
                guard try deliver(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &reader, &state) else {
                    return
                }
                guard state == .discarding else { continue }
                thrownAway += records
                let pause = Self.pause(after: thrownAway)
                if pause > 0, !signal.pause(pause) { return }
            }
        } catch {
            return report(.failed("the connection is broken: \(error)"))
        }
        guard state == .ended else {
            return report(.failed("the other device has cut it off"))
        }
        report(.connectionEnded)
    }

    /// Waits for a record, and takes whatever else is there, up to `most` records.
    private func fill(
        _ buffer: UnsafeMutableRawBufferPointer, _ most: Int
    ) throws(GLibError) -> (count: Int, records: Int) {
        var (count, records) = (try transport.read(buffer), 1)
        while count > 0, records < most, buffer.count - count >= TLSConnection.recordSize {
            let more = transport.readMore(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            if more == 0 { break }
            count += more
            records += 1
        }
        return (count, records)
    }

    /// - Returns: whether to go on.
    private func deliver(
        _ bytes: UnsafeRawBufferPointer, _ reader: inout StreamFrameReader, _ state: inout Receiving
    ) throws -> Bool {
        if state == .ended { throw StreamFault(description: "something follows the end") }
        var place = 0
        while let piece = reader.next(bytes, from: place) {
            switch piece {
            case .tooLong(let size): throw StreamFault(description: "a frame of \(size) bytes is too long")
            case .end(let end):
                guard end == bytes.count else {
                    throw StreamFault(description: "something follows the end")
                }
                application.endWriting()
                state = .ended
                report(.incomingEnded)
                return true
            case .data(let range):
                place = range.upperBound
                guard state == .delivering else { continue }
                switch try application.write(UnsafeRawBufferPointer(rebasing: bytes[range]), unless: signal) {
                case .done: incoming.add(range.count, ordering: .relaxed)
                case .refused: state = .discarding
                case .stopped: return false
                }
            }
        }
        return true
    }
}
