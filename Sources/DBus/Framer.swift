// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Cuts what arrives into messages, each with the descriptors that came with it.
///
/// How long a message is, is known from its first sixteen bytes, and whether it is taken as soon as its header is there:
/// nothing is kept of a message that is passed over, and nothing more is taken in behind one that is refused.
package struct Framer: ~Copyable {
    /// How long messages may be, in bytes.
    package struct Limits: Sendable {
        /// A header.
        let header: Int
        /// A whole message, unless it is an answer.
        let message: Int
        /// A whole answer.
        let answer: Int
        /// Whether what is longer, or has a header that is none, is passed over. If not, it is an error.
        let passesOverBad: Bool

        /// Limits for a channel of messages of at most `message` bytes, answers of at most `answer` if that is another number,
        /// and headers of at most `header`.
        ///
        /// A bus lets through what it has not looked at, and each has a reader of its own: a header that is none there is
        /// somebody else's fault, and must not cost the connection to everybody.
        package init(header: Int, message: Int, answer: Int? = nil, passesOverBad: Bool = false) {
            self.header = header
            self.message = message
            self.answer = answer ?? message
            self.passesOverBad = passesOverBad
        }

        fileprivate func longest(_ start: MessageStart) -> Int { start.isAnswer ? answer : message }
    }

    /// What becomes of a message.
    package enum Verdict: Equatable, Sendable {
        case take
        /// Nothing of its body is kept.
        case passOver
    }

    /// Stands for any number of descriptors that came and are lost.
    static let lost: Int32 = -1
    /// How much memory is kept for what comes.
    private static let keptCapacity = 1 << 17
    /// How many descriptors may wait for the header of their message: as many as the kernel passes at once.
    private static let maximumDescriptors = 253

    private let limits: Limits
    private var bytes: [UInt8] = []
    /// Where in that the next message begins.
    private var start = 0
    /// The next message, as far as its header, once it is decided that it is taken.
    private var beginning: Message?
    /// How many bytes that are still to come are passed over.
    private var passedOver = 0
    /// How many of the bytes from there on came before descriptors were lost: their messages have none.
    private var withoutDescriptors = 0
    /// Descriptors that have come, and belong to messages that have not been cut out yet.
    private var descriptors: [Int32] = []

    /// A framer of messages within `limits`.
    package init(_ limits: Limits) { self.limits = limits }

    deinit { for number in descriptors { close(number) } }

    /// Whether part of a message has come, and the rest has not.
    package var isWithinMessage: Bool { beginning != nil || bytes.count > start || passedOver > 0 }

    /// Takes in what has come, and `numbers`, descriptors that are this one's to close from now on.
    package mutating func add(_ part: UnsafeRawBufferPointer, _ numbers: [Int32] = []) {
        let haveLost = numbers.contains(Self.lost)
        if haveLost {
            dropDescriptors(descriptors.count)
            beginning?.loseDescriptors()
        } else {
            descriptors += numbers
        }
        defer { if haveLost { withoutDescriptors = bytes.count - start } }
        let unwanted = min(passedOver, part.count)
        passedOver -= unwanted
        let part = UnsafeRawBufferPointer(rebasing: part[unwanted...])
        guard let beginning else { return keep(part) }
        // What belongs to a message that has begun is copied once.
        let own = beginning.append(part)
        keep(UnsafeRawBufferPointer(rebasing: part[own...]))
    }

    private mutating func keep(_ part: UnsafeRawBufferPointer) {
        if start == bytes.count {
            if bytes.capacity > Self.keptCapacity {
                bytes = []
            } else {
                bytes.removeAll(keepingCapacity: true)
            }
            start = 0
        } else if start > 1 << 16 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: part)
    }

    /// Cuts out the next message, whose header is checked, and whose body is not.
    /// - Parameter judge: decides what becomes of a message, of which it sees the header alone; called once for each.
    /// - Returns: nil if it is not there whole yet.
    /// - Throws: what `judge` throws; `InvalidArgs`, saying what the other side did, if no message begins here, if it is longer
    ///   than it may be, or if it comes with other descriptors than it says. Then nothing more can be cut out.
    package mutating func next(
        _ judge: (Message) throws(DBusError) -> Verdict = { _ in .take }
    ) throws(DBusError) -> Message? {
        while true {
            if let message = beginning {
                // Each descriptor comes with the first byte of its message.
                guard message.isWhole else {
                    try checkDescriptors(atMost: message.announcedDescriptors)
                    return nil
                }
                beginning = nil
                try give(message)
                return message
            }
            guard bytes.count - start >= MessageStart.size else {
                try checkDescriptors(atMost: bytes.count == start ? 0 : Self.maximumDescriptors)
                return nil
            }
            guard let layout = MessageStart(bytes[start...]) else {
                throw .invalidArgs("what it sent is not a message")
            }
            if layout.bodyStart > limits.header || layout.length > limits.longest(layout) {
                try passOver(layout, Self.tooLong(layout, limits))
                continue
            }
            guard bytes.count - start >= layout.bodyStart else {
                try checkDescriptors(atMost: Self.maximumDescriptors)
                return nil
            }
            let part = Array(bytes[start..<start + min(layout.length, bytes.count - start)])
            let head: MessageHead
            do throws(DBusError) {
                head = try MessageHead(layout, in: part)
            } catch {
                try passOver(layout, error)
                continue
            }
            let message = Message(received: part, head)
            if withoutDescriptors > 0 { message.loseDescriptors() }
            if try judge(message) == .passOver {
                dropDescriptors(message.announcedDescriptors)
                passOver(layout.length)
            } else {
                pass(part.count)
                beginning = message
            }
        }
    }

    private static func tooLong(_ layout: MessageStart, _ limits: Limits) -> DBusError {
        layout.length > limits.longest(layout)
            ? tooLong(layout.length, limits.longest(layout))
            : .invalidArgs(
                "it sent a message whose header takes \(layout.bodyStart) bytes, more than the \(limits.header) allowed"
            )
    }

    /// Somebody has sent a message of `length` bytes where `limit` are allowed.
    package static func tooLong(_ length: Int, _ limit: Int) -> DBusError {
        .invalidArgs("it sent a message of \(length) bytes, more than the \(limit) allowed")
    }

    /// Passes over the message, or throws `error`, which says what is wrong with it.
    private mutating func passOver(_ layout: MessageStart, _ error: DBusError) throws(DBusError) {
        guard limits.passesOverBad else { throw error }
        // How many of them are its own is not known.
        dropDescriptors(descriptors.count)
        passOver(layout.length)
    }

    private mutating func passOver(_ length: Int) {
        let isThere = min(length, bytes.count - start)
        pass(isThere)
        passedOver = length - isThere
    }

    private mutating func pass(_ count: Int) {
        start += count
        withoutDescriptors = max(0, withoutDescriptors - count)
    }

    private mutating func dropDescriptors(_ count: Int) {
        for number in descriptors.prefix(count) { close(number) }
        descriptors.removeFirst(min(count, descriptors.count))
    }

    private func checkDescriptors(atMost count: Int) throws(DBusError) {
        guard descriptors.count <= count else {
            throw .invalidArgs("a descriptor came with a message that carries none")
        }
    }

    private mutating func give(_ message: Message) throws(DBusError) {
        let count = message.announcedDescriptors
        guard count > 0 else { return }
        guard descriptors.count >= count else { throw .invalidArgs("a descriptor of its message is missing") }
        message.descriptors = Array(descriptors.prefix(count))
        descriptors.removeFirst(count)
    }
}
