// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
package import DBus
internal import Glibc
package import HandoffCore
package import MainLoop
internal import Platform

/// The pipe that a program which was started writes its standard error into.
@frozen
package struct ErrorPipe: ~Copyable {
    /// Where this process reads.
    package let ours: FileDescriptor
    /// What the program gets. It is open for reading too, so that writing to it never raises SIGPIPE, and it does not
    /// block: the program fares no worse when this process ends, or does not keep up.
    package let theirs: FileDescriptor

    /// How much the pipe holds, in bytes, if the system allows that.
    private static let capacity: Int32 = 256 << 10

    /// A new pipe.
    package static func make() throws(HandoffFailure) -> ErrorPipe {
        var ends: [Int32] = [-1, -1]
        guard handoff_pipe(&ends, Int32(O_CLOEXEC | O_NONBLOCK)) == 0 else { throw failure() }
        let ours = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        _ = handoff_set_pipe_size(writing.number, capacity)
        // Opened anew, because being open for reading is not something that a descriptor can be given afterwards.
        let number = open("/proc/self/fd/\(writing.number)", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw failure() }
        return ErrorPipe(ours: ours, theirs: FileDescriptor(owning: number))
    }

    private static func failure() -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            "There can be no pipe for its messages: \(SystemError.last). Close some programs."
        )
    }
}

/// What a program writes to its standard error, read for as long as anybody can write to it, slowly.
@MainLoop
package final class ErrorOutput {
    private let descriptor: FileDescriptor
    private let onLine: @MainLoop (String) -> Void
    private let onEnd: @MainLoop () -> Void
    private var words = LastWords()
    private var source: DescriptorSource?
    private var pause: LoopSource?

    /// How many bytes are read at a time.
    private static let portion = 64 << 10
    /// How long nothing is read after something was: what does not fit into the pipe meanwhile is lost. Whoever writes a
    /// byte at a time wakes this process no more often than that.
    private static let rest = Duration.milliseconds(100)
    /// How many lines of a portion are told.
    private static let toldLines = 32
    /// How many portions are read after the end of the program: more than the pipe holds.
    private static let lastPortions = 6

    /// Reads `descriptor`, which does not block. `onLine` is called with lines that were written, fit to be shown, and `onEnd` once
    /// nobody can write any more.
    package init(
        _ descriptor: consuming FileDescriptor, onLine: @escaping @MainLoop (String) -> Void = { _ in },
        onEnd: @escaping @MainLoop () -> Void = {}
    ) {
        self.descriptor = descriptor
        (self.onLine, self.onEnd) = (onLine, onEnd)
        listen()
    }

    /// The last line that was written, fit to be shown; empty if there is none. What the program has written before is
    /// read first.
    package func lastLine() -> String {
        for _ in 0..<Self.lastPortions where read() == Self.portion {}
        return words.text
    }

    private func listen() {
        pause = nil
        source = DescriptorSource(descriptor.number, .readable) { [weak self] _ in self?.ready() }
    }

    private func ready() {
        let count = read()
        source = nil
        guard count != 0 else { return onEnd() }
        pause = .timer(after: Self.rest) { [weak self] in self?.listen() }
    }

    /// Reads a portion.
    /// - Returns: how many bytes it had; 0 at the end, negative if there are none now.
    private func read() -> Int {
        var result = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.portion) { buffer, count in
            result = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
            count = max(0, result)
        }
        for line in words.wrote(bytes, lines: Self.toldLines) { onLine(line) }
        return result
    }
}
