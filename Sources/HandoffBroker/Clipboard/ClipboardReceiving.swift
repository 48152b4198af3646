// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Brings the content of a peer's clipboard over that is too large for an answer, by the stream of a document.
enum ClipboardReceiving {
    /// How long it may take in all.
    private static let limit = Deadline.paste / 2

    /// Reads `size` bytes from `socket`, which is that of `OpenDocument`.
    /// - Throws: `ConnectionUnavailable` if they do not come, or are others than were sent.
    @MainLoop
    static func file(from socket: consuming FileDescriptor, size: UInt64) async throws -> ClipboardFile {
        let stream = DocumentStream(socket)
        let awaited = Awaited<Result<ClipboardFile, HandoffFailure>>()
        do {
            try BackgroundThread.start("clipboard") {
                let outcome = Result { () throws(HandoffFailure) in try read(stream, size) }
                MainLoop.start { awaited.come(outcome) }
            }
        } catch {
            throw HandoffFailure(
                .limitsExceeded, "The clipboard cannot be received now: \(error.message). Try again later.")
        }
        if let outcome = await awaited.value(within: limit) { return try outcome.get() }
        stream.cancel()
        throw DocumentStream.cut
    }

    private static func read(_ stream: DocumentStream, _ size: UInt64) throws(HandoffFailure) -> ClipboardFile
    {
        var writer = try ClipboardFile.Writer()
        var content = DocumentContent(size: size)
        try stream.read { (bytes) throws(HandoffFailure) in
            try content.add(bytes) { (part) throws(HandoffFailure) in try writer.append(part) }
        }
        _ = try content.check()
        stream.acknowledge()
        return try writer.finish()
    }
}
