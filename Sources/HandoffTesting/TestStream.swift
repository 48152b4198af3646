// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import MainLoop
internal import Platform

/// A stream between two applications of a test, with a thread a direction between their sockets, so that it ends and
/// breaks for them as one through two bridges does.
///
/// In the queue of each of our ends one byte always stays that was used already: closed like that, the application reads
/// `ECONNRESET`; only after the byte was taken out it reads an end.
final class TestStream: Sendable {
    private struct State {
        var isCut = false
        var running = 2
    }

    private let ends: [CInt]
    private let state = Monitor(State())
    private let stop: StopSignal

    /// A stream between two sockets, the other ends of which applications have.
    init(_ near: consuming FileDescriptor, _ far: consuming FileDescriptor) throws {
        ends = [near.take(), far.take()]
        guard let stop = StopSignal() else { throw DBusError(.failed, "No descriptor is free.") }
        self.stop = stop
        for end in ends { Self.setPeekOffset(end, 1) }
    }

    /// Breaks the stream: both applications are told.
    func cut() {
        state.change {
            guard $0.running > 0, !$0.isCut else { return }
            $0.isCut = true
            stop.send()
            for end in ends { shutdown(end, Int32(SHUT_RD)) }
        }
    }

    /// Passes on what applications write, and calls `ended` on the main loop once both directions have ended.
    func begin(_ ended: @escaping @MainLoop @Sendable () -> Void) throws(GLibError) {
        for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            try BackgroundThread.start("test stream") { [self] in
                move(from, to)
                if isOver() { MainLoop.start { ended() } }
            }
        }
    }

    /// Moves what comes until the direction ends.
    private func move(_ from: CInt, _ to: CInt) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 + 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        let data = UnsafeMutableRawBufferPointer(rebasing: buffer[1...])
        while case let count = Self.read(from, data), count > 0 {
            guard write(to, data, count) else {
                shutdown(from, Int32(SHUT_RD))
                return
            }
        }
        if !state.change({ $0.isCut }) { shutdown(to, Int32(SHUT_WR)) }
    }

    /// A direction has ended. Both sockets are closed once both have, and only then.
    private func isOver() -> Bool {
        let (isLast, isCut) = state.change {
            $0.running -= 1
            return ($0.running == 0, $0.isCut)
        }
        guard isLast else { return false }
        if isCut {
            // Who still waits to write notices it before the sockets close, or it would take the error of who reads.
            usleep(100_000)
        }
        for end in ends {
            if !isCut {
                withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 1) { bytes in
                    while recv(end, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
                }
            }
            close(end)
        }
        return true
    }

    /// Waits for bytes behind the used one. The byte before `data` is overwritten.
    private static func read(_ end: CInt, _ data: UnsafeMutableRawBufferPointer) -> Int {
        guard let start = data.baseAddress, recv(end, start, 1, Int32(MSG_PEEK)) == 1 else { return 0 }
        var queued: Int32 = 0
        guard ioctl(end, UInt(FIONREAD), &queued) == 0, queued > 1 else { return 0 }
        // All but the last, which stays as the used one.
        let taken = recv(end, start - 1, min(Int(queued) - 1, data.count), 0)
        guard taken > 0 else { return 0 }
        if taken == 1 { setPeekOffset(end, 0) }
        return recv(end, start + taken - 1, 1, Int32(MSG_PEEK)) == 1 ? taken : 0
    }

    /// - Returns: false if the application reads no more, or the stream was cut.
    private func write(_ end: CInt, _ data: UnsafeMutableRawBufferPointer, _ count: Int) -> Bool {
        var place = 0
        while place < count {
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let sent = send(end, data.baseAddress.map { $0 + place }, count - place, flags)
            if sent >= 0 {
                place += sent
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                if !stop.wait(end, Int16(POLLOUT)) { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Sets where in the queue the next peek begins (socket(7), `SO_PEEK_OFF`).
    private static func setPeekOffset(_ end: CInt, _ offset: Int32) {
        var offset = offset
        setsockopt(end, SOL_SOCKET, SO_PEEK_OFF, &offset, socklen_t(MemoryLayout.size(ofValue: offset)))
    }
}
