// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffInterfaces
import Platform
import Synchronization

@testable import HandoffBroker

/// A document as an origin sends it, over a socket pair: rightly, or in a way that a test chooses.
struct FakeDocument {
    var bytes: [UInt8]
    /// What is sent after the bytes; nil for the right checksum.
    var checksum: [UInt8]?
    /// How many of the bytes and of the checksum are sent; nil for all.
    var sent: Int?
    /// Whether the stream is ended in order.
    var ends = true
    var about: [String: Value]

    init(_ text: String, name: String = "Letter.txt", modified: Int64? = nil) {
        self.init(Array(text.utf8), name: name, modified: modified)
    }

    init(_ bytes: [UInt8], name: String = "Letter.txt", modified: Int64? = nil) {
        self.bytes = bytes
        about = ["Name": .string(name), "Size": .uint64(UInt64(bytes.count))]
        if let modified { about["Modified"] = .int64(modified) }
    }

    /// Everything that is sent.
    var content: [UInt8] {
        let all = bytes + (checksum ?? Digest.sha256(bytes))
        return Array(all.prefix(sent ?? all.count))
    }

    /// A stream that brings it; `keep` is given its other end.
    func send(_ keep: (FakeDocumentEnd) -> Void = { _ in }) throws -> PeerOpenDocumentReply {
        let pair = try StreamSocket.makePair()
        let end = FakeDocumentEnd(pair.ours)
        let (content, ends) = (content, ends)
        try BackgroundThread.start("sender") {
            end.send(content, ends: ends)
            end.sent.store(true, ordering: .releasing)
        }
        keep(end)
        return PeerOpenDocumentReply(stream: pair.theirs, about: about)
    }
}

/// The bridge's end of a document's stream.
final class FakeDocumentEnd: Sendable {
    private let socket: FileDescriptor
    private let known = Mutex<String?>(nil)
    fileprivate let sent = Atomic(false)

    init(_ socket: consuming FileDescriptor) {
        self.socket = socket
        // The byte that the pair was made with.
        var byte: UInt8 = 0
        _ = recv(self.socket.number, &byte, 1, 0)
    }

    /// Whether all has been sent that was to be sent from the beginning.
    var hasSent: Bool { sent.load(ordering: .acquiring) }

    func send(_ content: [UInt8], ends: Bool) {
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
        if ends { shutdown(socket.number, Int32(SHUT_WR)) }
    }

    /// How the receiver has left it: `acknowledged`, `broken`, or nil as long as it has not.
    var ending: String? {
        // The system tells a break only once.
        known.withLock {
            $0 = $0 ?? look()
            return $0
        }
    }

    private func look() -> String? {
        var byte: UInt8 = 0
        let count = recv(socket.number, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK))
        if count == 0 { return "acknowledged" }
        if count > 0 { return "bytes" }
        return errno == EAGAIN ? nil : "broken"
    }
}
