// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import Platform
internal import Synchronization

/// Copies bytes from one descriptor to another, on a separate thread.
final class ByteCopy: Sendable {
    private let source: Int32
    private let sink: Int32
    private let copied = Atomic<Int>(0)

    private static let bufferSize = 256 << 10

    /// Both descriptors must stay open while this is under way.
    init(from source: Int32, to sink: Int32) {
        self.source = source
        self.sink = sink
    }

    /// How many bytes have been copied.
    var count: Int { copied.load(ordering: .relaxed) }

    /// Which side has failed, and why.
    enum Failure: Error {
        case reading(Int32)
        case writing(Int32)
    }

    /// Copies to the end, or as many bytes as `limit`.
    /// - Throws: ``Failure``, or an error if there is no thread left.
    func run(limit: Int = .max) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            do throws(GLibError) {
                try BackgroundThread.start("copy") {
                    continuation.resume(with: Result { try self.copy(limit) })
                }
            } catch {
                continuation.resume(
                    throwing: CommandFailure(
                        tr("No thread could be started: {reason}.", ["reason": error.message])))
            }
        }
    }

    private func copy(_ limit: Int) throws(Failure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        while count < limit {
            let taken = read(source, buffer.baseAddress, min(buffer.count, limit - count))
            if taken == 0 { return }
            if taken > 0 {
                try write(UnsafeRawBufferPointer(rebasing: buffer[..<taken]))
            } else if !wait(source, POLLIN) {
                throw .reading(errno)
            }
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var place = 0
        while place < bytes.count {
            // No signal arrives here, because the thread blocks them all.
            let written = Glibc.write(sink, bytes.baseAddress?.advanced(by: place), bytes.count - place)
            if written >= 0 {
                place += written
                copied.add(written, ordering: .relaxed)
            } else if !wait(sink, POLLOUT) {
                throw .writing(errno)
            }
        }
    }

    /// After a failure: whether it is worthwhile to try again, because somebody else has made the descriptor
    /// non-blocking.
    private func wait(_ descriptor: Int32, _ events: Int32) -> Bool {
        if errno == EINTR { return true }
        guard errno == EAGAIN else { return false }
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        _ = poll(&entry, 1, -1)
        return true
    }
}

extension ByteCopy.Failure {
    /// Why it failed, for people to read.
    var reason: String {
        switch self {
        case .reading(let number), .writing(let number): SystemError.text(number)
        }
    }
}
