// SPDX-License-Identifier: LGPL-2.1-or-later
import FuzzSupport
import HandoffCore

@testable import HandoffBridge

/// What is said before TLS, as it comes from anybody who connects.
enum OpeningTest {
    private static let known = (UInt8(1)..<4).compactMap { number in
        DeviceID(bytes: [UInt8](repeating: number, count: 32)).flatMap { device in
            PeerSecret(bytes: [UInt8](repeating: number, count: 32)).map { (device: device, secret: $0) }
        }
    }

    static func run(_ bytes: [UInt8]) {
        checkGreeting(bytes)
        checkKnock(bytes)
        checkPlaces(bytes)
        var choices = Choices(bytes)
        checkQuota(&choices)
    }

    private static func checkGreeting(_ bytes: [UInt8]) {
        let challenge = try? Knock.challenge(in: bytes)
        require(challenge == nil || Knock.greeting(challenge ?? []) == bytes, "\(bytes) is a greeting")
    }

    private static func checkKnock(_ bytes: [UInt8]) {
        guard let head = try? Knock.head(Array(bytes.prefix(Knock.headSize))) else { return }
        require((1...Knock.maximumEntries).contains(head.count), "\(head.count) entries")
        let exchange = Knock.Exchange(listener: [UInt8](repeating: 7, count: 16), dialler: head.challenge)
        let entries = Array(bytes.dropFirst(Knock.headSize).prefix(head.count * Knock.entrySize))
        let matched = Knock.match(entries, exchange, at: [.unnamed], known)
        require(matched == nil, "\(bytes) shows a secret of \(String(describing: matched))")
        // With the right entry among them, the same bytes do match.
        for (device, secret) in known {
            let entry = secret.knock(exchange, by: device, to: .unnamed)
            let whole = entries.prefix(entries.count / 16 * 16) + entry
            require(
                Knock.match(Array(whole), exchange, at: [.unnamed], known) == device, "\(device) is not seen")
        }
    }

    private static func checkPlaces(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        _ = NetworkSource.name(of: text, interfaces: [])
        guard let address = NetworkAddress(text) else { return }
        if let destination = KnockDestination(address) {
            require(destination.bytes.count == 18, "\(destination) of \(address)")
        }
    }

    /// Checks that whatever comes, no more wait than may, and that each can be ended.
    private static func checkQuota(_ choices: inout Choices) {
        var (quota, queue, now) = (OpeningQuota(), StrangerQueue(), Instant(microseconds: 0))
        var waiting: Set<Int> = []
        while !choices.isAtEnd {
            now = now.advanced(by: .milliseconds(Int(choices.byte())))
            let (source, isPeer) = ("\(choices.below(9))", choices.byte() & 1 == 1)
            if case .admit(let number, let dropped) = quota.arrived(
                from: source, extra: choices.below(4), at: now, mayBePeer: { isPeer })
            {
                if let dropped { require(waiting.remove(dropped) != nil, "\(dropped) was not there") }
                waiting.insert(number)
                _ = queue.arrived(number, from: source)
            }
            while let next = queue.next(at: now) { if choices.byte() & 1 == 1 { queue.ended(next) } }
            if choices.byte() & 3 == 0, let number = waiting.min() {
                quota.ended(number)
                waiting.remove(number)
            }
            require(
                quota.count == waiting.count && queue.count <= StrangerQueue.maximum, "\(quota), \(queue)")
        }
    }
}
