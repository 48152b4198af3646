// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform
internal import Synchronization

/// Brings content between a file in memory and another program, which may be slow, or never come to an end: on a thread.
enum ClipboardPipe {
    /// How long nothing may come, or be taken.
    private static let patience: Int32 = 5000
    /// How long it may take in all.
    private static let limit = Duration.seconds(20)
    /// How many programs are read from and written to at a time.
    private static let maximum = 16
    private static let count = Atomic<Int>(0)

    /// Reads from `descriptor` until its end.
    /// - Throws: `LimitsExceeded` if there is too much, `OfferWithdrawn` if it does not come to its end.
    static func read(_ descriptor: consuming FileDescriptor) async throws -> ClipboardFile {
        let number = descriptor.take()
        return try await withCheckedThrowingContinuation { continuation in
            let started = start {
                let outcome = Result { try read(from: FileDescriptor(owning: number)) }
                MainLoop.start { continuation.resume(with: outcome) }
            }
            guard !started else { return }
            close(number)
            continuation.resume(throwing: busy)
        }
    }

    /// Writes all of `file` to `descriptor`, and then closes it; if its reader does not take it, it is closed
    /// before. Then `done` is called.
    static func write(
        _ file: ClipboardFile, to descriptor: consuming FileDescriptor,
        _ done: @escaping @MainLoop @Sendable (_ isWritten: Bool) -> Void = { _ in }
    ) {
        let number = descriptor.take()
        let started = start {
            let isWritten = write(file, FileDescriptor(owning: number))
            MainLoop.start { done(isWritten) }
        }
        guard !started else { return }
        close(number)
        MainLoop.start { done(false) }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard count.add(1, ordering: .relaxed).newValue <= maximum else {
            count.subtract(1, ordering: .relaxed)
            return false
        }
        do {
            try BackgroundThread.start("clipboard") {
                body()
                count.subtract(1, ordering: .relaxed)
            }
            return true
        } catch {
            count.subtract(1, ordering: .relaxed)
            return false
        }
    }

    private static func read(from descriptor: consuming FileDescriptor) throws(HandoffFailure)
        -> ClipboardFile
    {
        let end = ContinuousClock.now + limit
        var writer = try ClipboardFile.Writer()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        while true {
            guard ready(descriptor.number, POLLIN), ContinuousClock.now < end else { throw unfinished }
            let taken = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
            if taken == 0 { return try writer.finish() }
            if taken > 0 {
                try writer.append(UnsafeRawBufferPointer(rebasing: buffer[..<taken]))
            } else if errno != EINTR && errno != EAGAIN {
                throw unfinished
            }
        }
    }

    /// - Returns: whether all of it was written.
    private static func write(_ file: ClipboardFile, _ descriptor: consuming FileDescriptor) -> Bool {
        let end = ContinuousClock.now + limit
        let flags = fcntl(descriptor.number, F_GETFL)
        guard flags >= 0, fcntl(descriptor.number, F_SETFL, flags | O_NONBLOCK) == 0 else { return false }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        var offset = 0
        while offset < file.size {
            let count = file.read(buffer, at: offset)
            guard count > 0 else { return false }
            var written = 0
            while written < count {
                guard ready(descriptor.number, POLLOUT), ContinuousClock.now < end else { return false }
                let more = Glibc.write(
                    descriptor.number, buffer.baseAddress?.advanced(by: written), count - written)
                if more > 0 {
                    written += more
                } else if errno != EINTR && errno != EAGAIN {
                    return false
                }
            }
            offset += count
        }
        return true
    }

    /// Waits until something can be read or written; false if nothing can within ``patience``.
    private static func ready(_ number: Int32, _ what: Int32) -> Bool {
        var one = pollfd(fd: number, events: Int16(what), revents: 0)
        while true {
            let count = poll(&one, 1, patience)
            if count < 0, errno == EINTR { continue }
            return count > 0
        }
    }

    /// What was read never came to its end.
    static let unfinished = HandoffFailure(
        .offerWithdrawn,
        "The program that the clipboard's content is from does not give it. Copy it once more there.")

    /// Too many programs are read from or written to.
    static let busy = HandoffFailure(
        .limitsExceeded, "Other programs are still being given the clipboard. Try again in a moment.")
}
