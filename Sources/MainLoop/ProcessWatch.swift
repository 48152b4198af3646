// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Tells of the end of a process, by one descriptor of pidfd_open(2), as long as this lives. Nothing is looked at meanwhile.
@MainLoop
package final class ProcessWatch {
    /// Why a process cannot be watched.
    package enum Failure: Error, Equatable {
        /// There is no such process, or it has ended.
        case ended
        /// There is no descriptor for it: `reason` is what the system says.
        case noDescriptor(reason: String)
    }

    /// The id of the process. Another one may have it once this one has ended.
    package let process: UInt32
    private let descriptor: Int32
    private var source: DescriptorSource?

    /// Watches the process that has the id `process` now, and calls `body` once it has ended.
    /// - Throws: if it cannot be watched.
    package init(_ process: UInt32, _ body: @escaping @MainLoop () -> Void) throws(Failure) {
        guard let id = Int32(exactly: process), id > 0 else { throw .ended }
        let descriptor = handoff_pidfd_open(id)
        guard descriptor >= 0 else {
            throw errno == ESRCH ? .ended : .noDescriptor(reason: String(cString: strerror(errno)))
        }
        (self.process, self.descriptor) = (process, descriptor)
        guard !hasEnded else { throw .ended }
        source = DescriptorSource(descriptor, .readable) { [weak self] _ in
            self?.source = nil
            body()
        }
    }

    isolated deinit {
        source?.cancel()
        close(descriptor)
    }

    /// Whether the process has ended, even if nobody was told of it yet.
    package var hasEnded: Bool {
        var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&one, 1, 0) > 0
    }
}
