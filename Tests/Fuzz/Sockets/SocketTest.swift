// SPDX-License-Identifier: LGPL-2.1-or-later
import FuzzSupport
import Glibc

@testable import DBus

/// Bytes and descriptors as they come by a socket that passes the bus by, in pieces of any size.
enum SocketTest {
    private static let limit = 1 << 10

    /// What was sent with one call of `sendmsg`.
    private struct Sent {
        var bytes: [UInt8]
        var hasDescriptor: Bool
    }

    /// What was cut out of it.
    private struct Found: Equatable {
        var frames: [[UInt8]] = []
        var isRefused = false
    }

    static func run(_ bytes: [UInt8]) {
        var choices = Choices(bytes)
        let sizes = choices.bytes(atMost: 15)
        var sent: [Sent] = []
        while !choices.isAtEnd, sent.count < 32 { sent.append(Self.sent(&choices)) }
        let lowest = lowestFree()
        check(sent, sizes)
        require(lowestFree() == lowest, "a descriptor was left open, or closed twice")
    }

    private static func check(_ sent: [Sent], _ sizes: [UInt8]) {
        let whole = find(sent, [])
        let pieces = find(sent, sizes)
        // That a descriptor is one too many may be seen before or after what has come in the same piece.
        let common = min(whole.frames.count, pieces.frames.count)
        require(whole.frames.prefix(common) == pieces.frames.prefix(common), "\(whole), \(pieces)")
        if !sent.contains(where: \.hasDescriptor) {
            require(whole == pieces, "in pieces of \(sizes) it is \(pieces), else \(whole)")
        }
        let all = sent.flatMap(\.bytes)
        let taken = Array(whole.frames.joined())
        require(taken == Array(all.prefix(taken.count)), "\(whole)")
        for frame in whole.frames {
            require(Message.neededBytes(frame, limit: limit) == .length(frame.count), "\(frame) is no frame")
        }
    }

    // MARK: Inputs

    private static func sent(_ choices: inout Choices) -> Sent {
        let kind = choices.byte()
        let hasDescriptor = kind & 1 != 0
        switch kind >> 1 & 3 {
        case 0: return Sent(bytes: choices.bytes(atMost: 63), hasDescriptor: hasDescriptor)
        case 1:
            return Sent(
                bytes: message(&choices, takesDescriptor: !hasDescriptor), hasDescriptor: hasDescriptor)
        case 2:
            let bytes = message(&choices, takesDescriptor: hasDescriptor)
            return Sent(bytes: bytes.dropLast(choices.below(bytes.count)), hasDescriptor: hasDescriptor)
        default:
            return Sent(
                bytes: message(&choices, takesDescriptor: hasDescriptor), hasDescriptor: hasDescriptor)
        }
    }

    /// As far as framing goes, a message. The last bit of its serial number says whether it takes a descriptor.
    private static func message(_ choices: inout Choices, takesDescriptor: Bool) -> [UInt8] {
        let body = choices.bytes()
        return [
            UInt8(ascii: "l"), 1, 0, 1, UInt8(body.count), 0, 0, 0, takesDescriptor ? 1 : 2, 0, 0, 0, 0, 0, 0,
            0,
        ]
            + body
    }

    /// The number that a new descriptor would have.
    private static func lowestFree() -> Int32 {
        let number = dup(STDIN_FILENO)
        close(number)
        return number
    }

    // MARK: What comes of them

    /// What is found when it is read in pieces of the lengths `sizes`, repeatedly; an empty array means pieces as long as
    /// they can be. Nothing is read beyond what a descriptor came with, as from a socket.
    private static func find(_ sent: [Sent], _ sizes: [UInt8]) -> Found {
        var frames = IncomingFrames()
        var (found, piece) = (Found(), 0)
        for one in sent {
            var (rest, hasDescriptor) = (one.bytes[...], one.hasDescriptor && !one.bytes.isEmpty)
            while !rest.isEmpty {
                let size = sizes.isEmpty ? rest.count : Int(sizes[piece % sizes.count]) + 1
                piece += 1
                frames.add(rest.prefix(size), hasDescriptor ? dup(STDIN_FILENO) : -1)
                (rest, hasDescriptor) = (rest.dropFirst(size), false)
                guard take(&frames, &found) else { return found }
            }
        }
        return found
    }

    private static func take(_ frames: inout IncomingFrames, _ found: inout Found) -> Bool {
        do throws(DBusError) {
            while let frame = try frames.next(limit: limit) {
                if frame[8] & 1 != 0 { close(try frames.takeDescriptor()) }
                found.frames.append(frame)
            }
            return true
        } catch {
            found.isRefused = true
            return false
        }
    }
}
