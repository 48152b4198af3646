// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop

/// A connection on which this side has said that it ends. It is kept until the other side has closed its end
/// too, or for a moment.
///
/// If a socket is closed while something that it received has not been read, the kernel resets the
/// connection, and what was on its way to the other side is lost: the end, and what came right before it.
@MainLoop
final class Farewell {
    /// How long a connection is kept at most.
    private static let patience = Duration.seconds(2)
    /// The connections that are kept, by their descriptors.
    private static var kept: [Int32: Farewell] = [:]

    private let descriptor: Int32
    private var close: (@MainLoop () -> Void)?
    private var source: DescriptorSource?
    private var timer: LoopSource?
    /// How many bytes have come since then.
    private var received = 0
    /// How many bytes are waited for: an end in order brings only a few.
    private static let maximumReceived = 64 << 10

    private init(_ descriptor: Int32, _ close: @escaping @MainLoop () -> Void) {
        self.descriptor = descriptor
        self.close = close
    }

    /// Keeps a connection over which nothing more is sent, and calls `close` when it is time to close it.
    static func keep(_ descriptor: Int32, _ close: @escaping @MainLoop () -> Void) {
        let new = Farewell(descriptor, close)
        kept.updateValue(new, forKey: descriptor)?.end()
        new.source = DescriptorSource(descriptor, .readable) { [weak new] _ in new?.read() }
        new.timer = .timer(after: patience) { [weak new] in new?.end() }
    }

    /// Returns when all have been closed, or at `deadline`, in microseconds of ``MainLoop/now``; for the end
    /// of the program.
    static func awaitAll(until deadline: Int64) {
        while !kept.isEmpty {
            let left = deadline - MainLoop.now
            var entries = kept.keys.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard left > 0, poll(&entries, nfds_t(entries.count), Int32(left / 1000) + 1) > 0 else { break }
            for entry in entries where entry.revents != 0 { kept[entry.fd]?.read() }
        }
        for one in kept.values { one.end() }
    }

    /// Reads what still comes, which no longer counts.
    private func read() {
        let count = withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 1) { bytes in
            recv(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
        }
        received += max(0, count)
        if count > 0 && received < Self.maximumReceived || count < 0 && (errno == EAGAIN || errno == EINTR) {
            return
        }
        end()
    }

    private func end() {
        guard let close else { return }
        self.close = nil
        source?.cancel()
        timer?.cancel()
        if Self.kept[descriptor] === self { Self.kept[descriptor] = nil }
        close()
    }
}
