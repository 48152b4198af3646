// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import Platform

/// The application's end of a stream, which is closed when nobody uses it any more.
///
/// One thread may read and another write. The kernel reports that the stream broke only once, and it may be the writer
/// who is told (unix(7)); what a reader then sees looks like an orderly end. So the one tells the other here.
final class StreamSocketEnd: Sendable {
    private struct State {
        /// Whether the descriptor belongs to somebody else now.
        var isTaken = false
        /// Whether anything was read or written, or is going to be.
        var isUsed = false
        /// Whether either direction was told that the stream broke.
        var isBroken = false
        /// Whether a call that writes is under way.
        var isWriting = false
        /// Whether the stream was ended here.
        var isCut = false
    }

    /// What a call has brought.
    enum Outcome {
        /// So many bytes were moved.
        case bytes(Int)
        /// The other side has ended its direction.
        case end
        /// Nothing goes any more, for this reason of the system's.
        case broken(CInt)
    }

    private let descriptor: CInt
    private let state = Monitor(State())

    init(owning descriptor: CInt) { self.descriptor = descriptor }

    deinit {
        if !state.change({ $0.isTaken }) { close(descriptor) }
    }

    /// Gives the descriptor away; nil if that was done before, or it is in use.
    func take() -> CInt? {
        state.change {
            guard !$0.isTaken, !$0.isUsed, !$0.isCut else { return nil }
            $0.isTaken = true
            return descriptor
        }
    }

    /// The descriptor is in use from now on.
    func use() throws(HandoffError) {
        let isTaken = state.change {
            if !$0.isTaken, !$0.isUsed {
                $0.isUsed = true
                limitWaiting()
            }
            return $0.isTaken
        }
        if isTaken {
            throw HandoffError(.notSupported, "The socket of this stream was given away. Use that instead.")
        }
    }

    /// Makes the calls that wait return, and all that follow fail.
    func shutDown() {
        state.change {
            guard !$0.isTaken else { return }
            $0.isCut = true
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    /// The other side reads an end.
    func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Puts what has come into `buffer`.
    /// - Parameter waits: whether to wait for as long as nothing comes. Otherwise, no bytes may have come.
    func read(_ buffer: UnsafeMutableRawBufferPointer, waits: Bool) -> Outcome {
        let flags = flags(waits)
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
            if count > 0 { return .bytes(count) }
            if count == 0 { return isAnEnd ? .end : .broken(ECONNRESET) }
            let code = errno
            if code == EINTR { continue }
            if code == EAGAIN || code == EWOULDBLOCK {
                if !waits { return .bytes(0) }
                wait(POLLIN)
                continue
            }
            state.change { $0.isBroken = true }
            return .broken(code)
        }
    }

    /// Calls wait for a moment at most, in which most streams go on: to wake another thread up costs more, and so do calls
    /// that look first. The kernel counts in ticks, a few milliseconds at most.
    private func limitWaiting() {
        var time = timeval(tv_sec: 0, tv_usec: 1000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout.size(ofValue: time)))
        }
    }

    /// On the first thread, where windows are drawn, nobody waits.
    private func flags(_ waits: Bool) -> Int32 { waits || !FirstThread.isHere ? 0 : Int32(MSG_DONTWAIT) }

    /// Waits until there is something to read, or to say.
    func waitForBytes() { wait(POLLIN) }

    /// Waits until a call has something to do, or to say.
    private func wait(_ events: CInt) {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        poll(&entry, 1, -1)
    }

    /// Whether what looks like an end is one. If the other end is closed, a call that writes returns at once, and may
    /// be the one that is told of the break.
    private var isAnEnd: Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        let isClosed = poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP) != 0
        return state.wait { state in
            if state.isBroken || state.isCut { return false }
            return isClosed && state.isWriting ? nil : true
        }
    }

    /// Sends as many of `bytes` as go.
    /// - Parameter waits: whether to wait for room if there is none. Otherwise, no bytes may have gone.
    func write(_ bytes: UnsafeRawBufferPointer, waits: Bool) -> Outcome {
        state.change { $0.isWriting = true }
        let flags = Int32(MSG_NOSIGNAL) | flags(waits)
        while true {
            let count = send(descriptor, bytes.baseAddress, bytes.count, flags)
            let code = errno
            if count < 0, code == EINTR { continue }
            if count < 0, waits, code == EAGAIN || code == EWOULDBLOCK {
                wait(POLLOUT)
                continue
            }
            return state.change {
                $0.isWriting = false
                if count >= 0 { return .bytes(count) }
                if code == EAGAIN || code == EWOULDBLOCK { return .bytes(0) }
                if code == ECONNRESET { $0.isBroken = true }
                return .broken(code)
            }
        }
    }
}
