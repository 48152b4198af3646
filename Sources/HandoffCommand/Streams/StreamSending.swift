// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import MainLoop
internal import Platform

/// One stream that `handoff publish` sends. Its end is closed when this is freed, which the other side takes
/// for an orderly end. If not everything was sent, this must therefore be kept until the activity has ended.
final class StreamSending: Sendable {
    /// What came of it.
    enum Outcome {
        /// Everything was sent, and the other side has closed its end.
        case complete
        /// The other side has not taken everything.
        case refused(CommandFailure)
        /// There was no more to send, though there should have been, or the user has interrupted it.
        case cutShort(CommandFailure)
    }

    /// How long after the other programs of a pipeline this program may learn of an interruption that hits
    /// them all.
    private static let grace = Duration.milliseconds(100)

    private let source: Int32
    private let end: Int32
    private let size: Int?

    /// Takes over both.
    init(_ source: consuming FileDescriptor, _ end: consuming FileDescriptor, size: Int?) {
        self.source = source.take()
        self.end = end.take()
        self.size = size
    }

    deinit {
        close(source)
        close(end)
    }

    /// Sends everything, and waits until the other side has closed its end.
    /// - Parameter isInterrupted: whether the user wants to end.
    @MainLoop
    func run(_ isInterrupted: @MainLoop () -> Bool) async -> Outcome {
        let copy = ByteCopy(from: source, to: end)
        let progress = CopyProgress(of: copy, total: size)
        defer { progress.end() }
        do {
            try await copy.run(limit: size ?? .max)
            if let size, copy.count < size {
                return .cutShort(CommandFailure(tr("The file has become shorter while it was sent.")))
            }
            // This may have been the end, or the program that writes may have been interrupted.
            if size == nil { try await MainLoop.sleep(for: Self.grace) }
            if isInterrupted() { return .cutShort(Self.interrupted(copy)) }
            shutdown(end, Int32(SHUT_WR))
        } catch ByteCopy.Failure.writing {
            if isInterrupted() { return .cutShort(Self.interrupted(copy)) }
            return .refused(
                CommandFailure(
                    tr(
                        "The other side has closed the stream after {count} bytes, or it broke.",
                        ["count": "\(copy.count)"])))
        } catch {
            let reason = (error as? ByteCopy.Failure)?.reason ?? "\(error)"
            return .cutShort(
                CommandFailure(tr("What is to be sent cannot be read: {reason}.", ["reason": reason])))
        }
        guard let confirmations = await awaitEnd() else {
            return .refused(
                CommandFailure(
                    tr("The stream broke when {count} bytes had been sent.", ["count": "\(copy.count)"])))
        }
        // A receiver that does not know about confirmations sends none.
        guard confirmations != 1 else {
            return .refused(
                CommandFailure(
                    tr(
                        "The other side has ended before it had written all {count} bytes.",
                        ["count": "\(copy.count)"])))
        }
        progress.end()
        Output.note(tr("Sent {size}.", ["size": progress.summary]))
        return .complete
    }

    private static func interrupted(_ copy: ByteCopy) -> CommandFailure {
        CommandFailure(
            tr(
                "Interrupted when {count} bytes had been sent. The other side is told.",
                ["count": "\(copy.count)"]))
    }

    /// Waits until the other side has closed its end, or the stream has broken.
    /// - Returns: how many bytes the other side has sent; nil if the stream has broken.
    @MainLoop
    func awaitEnd() async -> Int? {
        let sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(sink) }
        let copy = ByteCopy(from: end, to: sink)
        do {
            try await copy.run()
            return copy.count
        } catch {
            return nil
        }
    }
}
