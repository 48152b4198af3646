// SPDX-License-Identifier: LGPL-2.1-or-later
import FuzzSupport

/// What was sent with one call of `sendmsg`. Nothing is read beyond what descriptors came with, as from a socket.
struct Sent {
    var bytes: [UInt8]
    /// How many descriptors come with the first byte.
    var descriptors = 0

    /// These bytes alone.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Something, a message or part of one, with as many descriptors as it says, or others.
    init(_ choices: inout Choices) {
        let kind = choices.byte()
        let count = kind & 1 == 0 ? 0 : 1 + Int(kind >> 3 & 3)
        let serial = 1 + kind >> 5 & 1
        switch kind >> 1 & 3 {
        case 0: bytes = choices.bytes(atMost: 63)
        case 1: bytes = Self.call(serial, announcing: count == 0 ? 1 : count - 1, choices.bytes())
        case 2:
            let whole = Self.call(serial, announcing: count, choices.bytes())
            bytes = Array(whole.dropLast(choices.below(min(256, whole.count))))
        default: bytes = Self.call(serial, announcing: count, choices.bytes())
        }
        descriptors = bytes.isEmpty ? 0 : count
    }

    /// A call of M at /. No type says what its body is, since nobody looks at that here.
    private static func call(_ serial: UInt8, announcing count: Int, _ body: [UInt8]) -> [UInt8] {
        let padding: [UInt8] = [0, 0, 0, 0, 0, 0]
        var fields: [UInt8] = [1, 1, UInt8(ascii: "o"), 0, 1, 0, 0, 0, UInt8(ascii: "/"), 0]
        fields += padding
        fields += [3, 1, UInt8(ascii: "s"), 0, 1, 0, 0, 0, UInt8(ascii: "M"), 0]
        if count > 0 {
            fields += padding
            fields += [9, 1, UInt8(ascii: "u"), 0, UInt8(count), 0, 0, 0]
        }
        var message: [UInt8] = [UInt8(ascii: "l"), 1, 0, 1, UInt8(body.count), 0, 0, 0, serial, 0, 0, 0]
        message += [UInt8(fields.count), 0, 0, 0]
        message += fields
        while message.count % 8 != 0 { message.append(0) }
        return message + body
    }

    /// What is read of `sent`, in pieces of the lengths `sizes`, repeatedly, the first of which begins with `first`; an empty
    /// array means pieces as long as they can be.
    static func pieces(_ sent: [Sent], _ sizes: [UInt8], after first: [UInt8]) -> [Sent] {
        var pieces: [Sent] = []
        for one in sent {
            var rest = one
            while !rest.bytes.isEmpty {
                let size = sizes.isEmpty ? rest.bytes.count : Int(sizes[pieces.count % sizes.count]) + 1
                var piece = rest
                piece.bytes = Array(rest.bytes.prefix(size))
                pieces.append(piece)
                rest = Sent(bytes: Array(rest.bytes.dropFirst(size)))
            }
        }
        if pieces.isEmpty { pieces = [Sent(bytes: [])] }
        pieces[0].bytes = first + pieces[0].bytes
        return pieces
    }
}
