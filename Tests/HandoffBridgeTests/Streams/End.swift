// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import MainLoop
import Testing

/// The end of a stream that a broker has.
@MainLoop
final class End {
    private var descriptor: FileDescriptor?
    private(set) var bytes: [UInt8] = []
    /// 0 once the stream has ended in order, the error number once it has broken.
    private(set) var ending: Int32?

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = consume descriptor }

    /// Writes all of `bytes`, which the kernel must have room for.
    func write(_ bytes: [UInt8]) {
        guard let number = descriptor?.number else { return }
        #expect(send(number, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    func endWriting() { if let number = descriptor?.number { shutdown(number, Int32(SHUT_WR)) } }
    func close() { descriptor = nil }

    /// Whether something is there that has not been read.
    var hasBytes: Bool {
        var byte: UInt8 = 0
        return recv(descriptor?.number ?? -1, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) == 1
    }

    /// Whether the stream has ended, after whatever has come is read.
    func hasEnded() -> Bool {
        guard let number = descriptor?.number, ending == nil else { return true }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count != 0 {
            if count > 0 {
                bytes += buffer[..<count]
                continue
            }
            if errno != EAGAIN { ending = errno }
            return ending != nil
        }
        ending = 0
        return true
    }
}
