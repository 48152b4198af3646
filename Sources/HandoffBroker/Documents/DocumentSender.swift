// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffSession
internal import Platform
internal import Synchronization

/// Sends one document through a socket: its bytes, then their SHA-256, on a thread of its own, which blocks while it
/// reads and waits while it sends. What is sent is one state of the file: if it changes meanwhile, the digest is never
/// sent.
final class DocumentSender: Sendable {
    /// How it has ended.
    enum Outcome: Equatable, Sendable {
        /// The receiver says that everything is there.
        case acknowledged(ContentMark)
        /// It has not been brought over, for this reason.
        case failed(String)
    }

    private struct Failure: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }

        static func system(_ what: String) -> Failure {
            Failure("\(what): \(SystemError.last)")
        }
    }

    private let document: SourceDocument
    private let socket: FileDescriptor
    private let signal: StopSignal
    private let steps = Atomic<UInt64>(0)
    private let isWhole = Atomic(false)
    /// How many bytes the socket has been given.
    private let given = Atomic<UInt64>(0)
    /// How fast the other end takes them.
    private let pace: Mutex<DocumentPace>

    private static let bufferSize = 256 << 10
    /// What part of a document that has to be read twice is sent while it is read for the second time: one in so many bytes.
    private static let heldBack: UInt64 = 1024
    private static let changed = Failure("the file has changed in the meantime")

    /// - Parameter period: how long it may take until enough has been taken.
    init(
        _ document: SourceDocument, through socket: consuming FileDescriptor, unless signal: StopSignal,
        period: Duration = DocumentPace.period
    ) {
        pace = Mutex(DocumentPace(of: document.size, at: .now, period: period))
        self.document = document
        self.socket = socket
        self.signal = signal
    }

    /// Grows with everything that is read or sent.
    var progress: UInt64 { steps.load(ordering: .relaxed) }

    /// Whether all of it has been sent, or is just about to be, and only the acknowledgement is missing.
    var awaitsAcknowledgement: Bool { isWhole.load(ordering: .relaxed) }

    /// Ends the sending from another thread, whatever the file system does; the receiver does not get the digest.
    func shutDown() { shutdown(socket.number, Int32(SHUT_RDWR)) }

    /// Sends the document.
    func run() -> Outcome {
        do {
            let (size, rest) = (document.size, document.changesUnseen ? document.size / Self.heldBack : 0)
            let digest = try pass { min($0, size - rest) }
            if document.mayHaveChanged {
                // What is held back goes meanwhile, since a receiver that hears nothing for long gives up.
                let again = try pass {
                    size - rest + size.dividingFullWidth(rest.multipliedFullWidth(by: $0)).quotient
                }
                guard again == digest else { throw Self.changed }
            }
            try sendOn(to: size)
            isWhole.store(true, ordering: .relaxed)
            try send(digest)
            shutdown(socket.number, Int32(SHUT_WR))
            try awaitAcknowledgement()
            return .acknowledged(ContentMark(Digest.hexadecimal(digest), size: document.size))
        } catch let failure as Failure {
            return .failed(failure.reason)
        } catch {
            return .failed("\(error)")
        }
    }

    /// Reads the whole document, which has to be as long as it was when it was opened, and sends it as far as `target` says when
    /// so many bytes have been read.
    /// - Returns: its SHA-256.
    private func pass(_ target: (UInt64) -> UInt64) throws(Failure) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 4096)
        defer { buffer.deallocate() }
        let (sha256, size) = (SHA256(), document.size)
        var offset: UInt64 = 0
        while true {
            let count = document.read(buffer, at: offset)
            guard count >= 0 else { throw .system("the file cannot be read") }
            if count == 0 { break }
            offset += UInt64(count)
            // What has changed will not arrive, so that nobody waits for the rest.
            guard offset <= size, !document.hasChanged else { throw Self.changed }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            sha256.update(bytes)
            steps.add(1, ordering: .relaxed)
            try checkSignal()
            let (begin, end) = (offset - UInt64(count), target(offset))
            // What has just been read need not be read for that.
            if given.load(ordering: .relaxed) == begin, end > begin {
                try send(UnsafeRawBufferPointer(rebasing: bytes[..<Int(min(end, offset) - begin)]))
            }
            try sendOn(to: end)
        }
        guard offset == size, !document.hasChanged else { throw Self.changed }
        let digest = sha256.finish()
        guard digest.count == 32 else { throw Failure("its digest cannot be computed") }
        return digest
    }

    /// Sends what has not been sent before `end`, as it is in the file now: if that is not what was read, nobody takes it.
    private func sendOn(to end: UInt64) throws(Failure) {
        while given.load(ordering: .relaxed) < end {
            let begin = given.load(ordering: .relaxed)
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: Int(min(end - begin, UInt64(Self.bufferSize))), alignment: 1)
            defer { buffer.deallocate() }
            let count = document.read(buffer, at: begin)
            guard count >= 0 else { throw .system("the file cannot be read") }
            guard count > 0 else { throw Self.changed }
            try send(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private static let stopped = Failure("it is no longer wanted")

    private func checkSignal() throws(Failure) {
        if case .stopped = signal.wait(-1, 0, atMost: .zero) { throw Self.stopped }
    }

    private func send(_ bytes: [UInt8]) throws(Failure) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        try send(UnsafeRawBufferPointer(copy))
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var place = 0
        while place < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
            let count = Glibc.send(
                socket.number, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            if count >= 0 {
                place += count
                given.add(UInt64(count), ordering: .relaxed)
                steps.add(1, ordering: .relaxed)
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                try awaitRoom()
            } else if errno != EINTR {
                throw errno == EPIPE || errno == ECONNRESET ? Self.refused : .system("it cannot be sent")
            }
        }
    }

    private static let refused = Failure("the other device, or the way to it, has ended it")

    /// How long it may go unnoticed that a little has been taken, since there is room only when most has been.
    private static let look = Deadline.documentReceipt / 12

    /// Waits until something of what was sent has been taken.
    private func awaitRoom() throws(Failure) {
        var (before, since) = (unread, Instant.now)
        while true {
            let next = min(Instant.now.advanced(by: Self.look), pace.withLock { $0.periodEnd })
            let time = max(.zero, Instant.now.duration(to: next))
            switch signal.wait(socket.number, Int16(POLLOUT), atMost: time) {
            case .ready: return try checkPace()
            case .stopped: throw Self.stopped
            case .timedOut: try checkPace()
            }
            let rest = unread
            if rest < before {
                (before, since) = (rest, .now)
                steps.add(1, ordering: .relaxed)
            } else if since.duration(to: .now) >= Deadline.documentReceipt {
                throw Failure("nothing of it was taken for \(Deadline.documentReceipt)")
            }
        }
    }

    /// To be called now and then.
    private func checkPace() throws(Failure) {
        // The kernel counts its own expenses among what has not been taken.
        let (given, unread) = (given.load(ordering: .relaxed), UInt64(max(0, unread)))
        let taken = given - min(given, unread)
        let isFastEnough = pace.withLock {
            $0.moved(taken, of: document.size)
            return $0.advance(to: .now)
        }
        guard isFastEnough else {
            throw Failure(
                "it is taken too slowly, less than \(ByteCount.text(DocumentPace.minimum)) a minute")
        }
    }

    /// How much of what was sent has not been taken (unix(7), `SIOCOUTQ`).
    private var unread: Int32 {
        var count: Int32 = 0
        return ioctl(socket.number, UInt(TIOCOUTQ), &count) == 0 ? count : 0
    }

    /// Waits until the receiver has ended its direction, and takes the byte that has made every other end a break.
    private func awaitAcknowledgement() throws(Failure) {
        let patience = DocumentPace.receipt(of: document.size)
        let end = Instant.now.advanced(by: patience)
        waiting: while true {
            // Whoever watches this thread sees that it goes on.
            let time = min(Instant.now.duration(to: end), Deadline.documentReceipt / 2)
            switch signal.wait(socket.number, Self.otherEnded, atMost: time) {
            case .ready: break waiting
            case .stopped: throw Self.stopped
            case .timedOut: steps.add(1, ordering: .relaxed)
            }
            guard Instant.now < end else { throw Failure("no acknowledgement came within \(patience)") }
        }
        var bytes: (UInt8, UInt8) = (0, 0)
        let first = recv(socket.number, &bytes, 1, Int32(MSG_DONTWAIT))
        guard first == 1, recv(socket.number, &bytes, 1, Int32(MSG_DONTWAIT)) == 0 else { throw Self.refused }
    }

    /// `POLLRDHUP` (poll(2)), which the C module lacks.
    private static let otherEnded: Int16 = 0x2000
}
