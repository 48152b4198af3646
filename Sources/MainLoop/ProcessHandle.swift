// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import Platform

/// A process whose end can be waited for: the one that has the id when this is created, whoever gets the id
/// later (pidfd_open(2)).
@MainLoop
package final class ProcessHandle {
    private let process: UInt32
    /// A descriptor that is readable once the process has ended; negative if there is none.
    private let descriptor: Int32
    private var waiting: [Int: Waiting] = [:]
    private var nextNumber = 0
    private var source: DescriptorSource?
    private var hasEnded: Bool

    private struct Waiting {
        let continuation: CheckedContinuation<Bool, Never>
        let timer: LoopSource
    }

    /// How often a process is looked at if the kernel does not report its end.
    private static let interval = Duration.milliseconds(20)

    /// The process that has the id `process` now.
    package convenience init(_ process: UInt32) {
        let descriptor = handoff_pidfd_open(Int32(truncatingIfNeeded: process))
        self.init(process, descriptor, hasEnded: descriptor < 0 && errno == ESRCH)
    }

    /// The process `process`, by a descriptor of pidfd_open(2); a negative one stands for none.
    init(_ process: UInt32, _ descriptor: Int32, hasEnded: Bool = false) {
        self.process = process
        self.descriptor = descriptor
        self.hasEnded = hasEnded
    }

    isolated deinit {
        source?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Waits for the end of the process, for at most `time`.
    /// - Returns: whether it has ended.
    package func end(within time: Duration) async -> Bool {
        if hasEnded { return true }
        guard descriptor >= 0 else { return await endByLooking(time) }
        if source == nil {
            source = DescriptorSource(descriptor, .readable) { [weak self] _ in self?.ended() }
        }
        nextNumber += 1
        let number = nextNumber
        return await withCheckedContinuation { continuation in
            let timer = LoopSource.timer(after: time) { [weak self] in
                self?.waiting.removeValue(forKey: number)?.continuation.resume(returning: false)
            }
            waiting[number] = Waiting(continuation: continuation, timer: timer)
        }
    }

    private func ended() {
        hasEnded = true
        source = nil
        let all = waiting.values
        waiting = [:]
        for one in all {
            one.timer.cancel()
            one.continuation.resume(returning: true)
        }
    }

    /// Waits by looking again and again, for kernels before 5.3 and for when no descriptor is left.
    private func endByLooking(_ time: Duration) async -> Bool {
        let end =
            MainLoop.now + time.components.seconds * 1_000_000 + time.components.attoseconds
            / 1_000_000_000_000
        while !ProcessState.hasEnded(process) {
            guard MainLoop.now < end else { return false }
            try? await MainLoop.sleep(for: Self.interval)
        }
        return true
    }
}
