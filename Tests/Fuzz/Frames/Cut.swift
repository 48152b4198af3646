// SPDX-License-Identifier: LGPL-2.1-or-later
import FuzzSupport
import Glibc
import LibdbusReference

@testable import DBus
@testable import HandoffBridge

/// What was sent, as a framer cuts it.
struct Cut: Equatable {
    /// A message, and which of all descriptors it has.
    struct Taken: Equatable {
        let bytes: [UInt8]
        let descriptors: [Int]
    }

    /// What was seen of a message before its body was there.
    struct Judged: Equatable {
        let kind: Message.Kind?
        let serial: UInt32
        let replySerial: UInt32
        let length: Int
        /// Nil if it was refused.
        let verdict: Framer.Verdict?

        init(_ header: Message, _ verdict: Framer.Verdict?) {
            (kind, serial, replySerial) = (header.kind, header.serial, header.replySerial)
            (length, self.verdict) = (header.length, verdict)
        }
    }

    var messages: [Taken] = []
    var judged: [Judged] = []
    private(set) var isRefused = false
    private(set) var isWithinMessage = false

    /// What a framer makes of `sent`, each of which is read at once.
    init(_ sent: [Sent], _ mode: Mode) {
        var framer = Framer(mode.limits)
        // Which descriptor it is that has a number: once it is closed, the number is another's.
        var (places, count): ([Int32: Int], Int) = ([:], 0)
        for one in sent {
            let numbers = (0..<one.descriptors).map { _ in dup(STDIN_FILENO) }
            for number in numbers {
                places[number] = count
                count += 1
            }
            one.bytes.withUnsafeBytes { framer.add($0, numbers) }
            guard take(&framer, mode, places) else { return }
        }
        isWithinMessage = framer.isWithinMessage
    }

    /// - Returns: whether more may come.
    private mutating func take(_ framer: inout Framer, _ mode: Mode, _ places: [Int32: Int]) -> Bool {
        do throws(DBusError) {
            while let message = try framer.next({ (header) throws(DBusError) in
                try judge(header, mode)
            }) {
                Self.check(message, mode, isFirst: messages.isEmpty)
                let descriptors = message.descriptors.map { places[$0] ?? -1 }
                messages.append(Taken(bytes: message.bytes, descriptors: descriptors))
            }
            return true
        } catch {
            isRefused = true
            return false
        }
    }

    private mutating func judge(_ header: Message, _ mode: Mode) throws(DBusError) -> Framer.Verdict {
        require((16...mode.limits.message).contains(header.length), "a length of \(header.length)")
        do throws(DBusError) {
            let verdict = try mode.judge(header)
            judged.append(Judged(header, verdict))
            return verdict
        } catch {
            judged.append(Judged(header, nil))
            throw error
        }
    }

    private static func check(_ message: Message, _ mode: Mode, isFirst: Bool) {
        require(message.length == message.bytes.count, "\(message.length) of \(message.bytes.count) bytes")
        require(message.descriptors.count == message.announcedDescriptors, "\(message.descriptors)")
        if let reference = Libdbus.header(message.bytes) {
            require(message.kind == reference.kind, "it is a \(String(describing: reference.kind))")
            require(message.replySerial == reference.replySerial, "it answers \(reference.replySerial)")
        }
        guard mode == .link, (try? message.checkBody()) != nil,
            LinkRules.violation(by: message, isFirst: isFirst) == nil
        else { return }
        require(message.destination == nil && message.sender == nil, "it is addressed")
        require(message.kind != .call || message.path == .root, "it calls another object")
        _ = LinkRules.serves(message.interface)
    }
}
