// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import MainLoop
internal import Platform

/// One stream that `handoff receive` writes to standard output.
final class StreamReading: Sendable {
    private let end: FileDescriptor
    private let size: Int?
    private let confirms: Bool
    private let copy: ByteCopy

    /// Takes over `end`.
    /// - Parameter userInfo: the state of the activity, in which its sender may say how many bytes to expect,
    ///   and that it wants to be told when they have arrived.
    init(_ end: consuming FileDescriptor, _ userInfo: [String: Value]) {
        copy = ByteCopy(from: end.number, to: STDOUT_FILENO)
        self.end = end
        size = userInfo.size
        confirms = userInfo.flag(PublishedStream.confirmationKey)
        confirm()
    }

    /// How many bytes have been written.
    var count: Int { copy.count }

    /// Confirms that the stream was taken, and later that everything has been written.
    private func confirm() {
        guard confirms else { return }
        var byte: UInt8 = 6
        _ = send(end.number, &byte, 1, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    /// Reads to the end.
    /// - Returns: why that was not possible.
    @MainLoop
    func run() async -> CommandFailure? {
        let progress = CopyProgress(of: copy, total: size)
        defer { progress.end() }
        do {
            try await copy.run()
        } catch let error as ByteCopy.Failure {
            return CommandFailure(Self.message(error, after: count))
        } catch {
            return CommandFailure(error)
        }
        if let size, count != size {
            return CommandFailure(
                tr(
                    "The stream has ended after {count} of {size} bytes.",
                    ["count": "\(count)", "size": "\(size)"]))
        }
        confirm()
        shutdown(end.number, Int32(SHUT_RDWR))
        progress.end()
        Output.note(tr("Received {size}.", ["size": progress.summary]))
        return nil
    }

    private static func message(_ failure: ByteCopy.Failure, after count: Int) -> String {
        switch failure {
        case .reading(ECONNRESET):
            tr(
                "The stream broke after {count} bytes. Is the other device still there? Continue the activity again.",
                ["count": "\(count)"])
        case .reading: tr("The stream cannot be read: {reason}.", ["reason": failure.reason])
        case .writing: tr("Standard output cannot be written: {reason}.", ["reason": failure.reason])
        }
    }
}

extension [String: Value] {
    /// How many bytes the stream of the activity with this `UserInfo` has, if that is known.
    fileprivate var size: Int? {
        if case .int64(let size)? = self[PublishedStream.sizeKey], size >= 0 { Int(size) } else { nil }
    }
}
