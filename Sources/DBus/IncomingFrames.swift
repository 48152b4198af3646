// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// What has come by an ``AttachedSocket`` and is to be cut into messages, each with the descriptor that came with it.
package struct IncomingFrames: ~Copyable {
    private var bytes: [UInt8] = []
    /// Where in that the next message begins.
    private var start = 0
    /// Descriptors that have come, and belong to messages that have not been cut out yet.
    private var descriptors: [Int32] = []

    /// How much memory is kept for what comes.
    private static let keptCapacity = 1 << 18

    package init() {}

    deinit {
        for number in descriptors { close(number) }
    }

    /// Takes in what has come, and `descriptor`, which is this one's to close from now on, unless it is negative.
    package mutating func add(_ part: some Collection<UInt8>, _ descriptor: Int32) {
        if descriptor >= 0 { descriptors.append(descriptor) }
        bytes.removeFirst(start)
        start = 0
        bytes += part
    }

    /// Cuts out the next message.
    /// - Parameter limit: how many bytes it may take.
    /// - Returns: its bytes; nil if it is not there whole yet.
    /// - Throws: `MalformedMessage` if it is none or too long, or if there are more descriptors than there may be.
    package mutating func next(limit: Int) throws(DBusError) -> [UInt8]? {
        switch Message.neededBytes(bytes[start...], limit: limit) {
        case .invalid: throw .malformed("it is none, or too long")
        case .length(let length) where bytes.count - start >= length:
            defer { forget(length) }
            return Array(bytes[start..<start + length])
        case .needMore, .length:
            // A descriptor comes with the first byte of its message, and so there is none between messages.
            guard descriptors.count <= (start == bytes.count ? 0 : 1) else {
                throw .malformed("a descriptor came with a message that carries none")
            }
            return nil
        }
    }

    /// Goes on behind the first `count` bytes, and gives back the memory that a long message has taken.
    private mutating func forget(_ count: Int) {
        start += count
        if start == bytes.count, bytes.capacity > Self.keptCapacity { (bytes, start) = ([], 0) }
    }

    /// The descriptor of the message that was cut out last, which carries one. It is the caller's to close.
    package mutating func takeDescriptor() throws(DBusError) -> Int32 {
        guard !descriptors.isEmpty else { throw .malformed("its descriptor is missing") }
        return descriptors.removeFirst()
    }
}
