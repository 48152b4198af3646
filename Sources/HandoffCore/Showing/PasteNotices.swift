// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is asked of what users of peers have sent here to be copied: the latest of each peer, for as long as it can
/// be had, and nothing while the session is locked. What the user has answered or put away does not come back.
package struct PasteNotices: Sendable {
    /// Something that was sent.
    package struct Sent: Equatable, Sendable {
        /// The device that has sent it.
        package let deviceID: String
        /// What it can be had as, the best first.
        package let kinds: [ClipboardKind]

        /// Something that was sent.
        package init(deviceID: String, kinds: [ClipboardKind]) {
            (self.deviceID, self.kinds) = (deviceID, kinds)
        }
    }

    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// Ask whether to copy this.
        case show(Sent)
        /// Take back what is asked for this device.
        case withdraw(deviceID: String)
    }

    private struct Question {
        let sent: Sent
        let end: Instant
        var isShown = false
    }

    /// What was sent, by the ids of the devices.
    private var questions: [String: Question] = [:]
    private var isLocked = true

    /// Nothing was sent.
    package init() {}

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    package var nextTime: Instant? { questions.values.map(\.end).min() }

    /// The user of a peer has sent this, which takes the place of what was sent by it before. Of no kind, it is
    /// nothing.
    package mutating func asked(_ sent: Sent, at now: Instant) -> [Action] {
        let former = end(sent.deviceID)
        guard !sent.kinds.isEmpty else { return former }
        questions[sent.deviceID] = Question(sent: sent, end: now.advanced(by: Deadline.sentClipboard))
        return former + advance(to: now)
    }

    /// These devices may ask now.
    package mutating func update(_ devices: Set<String>) -> [Action] {
        questions.keys.filter { !devices.contains($0) }.sorted().flatMap { end($0) }
    }

    /// The user has answered what was asked for this device, or put it away.
    package mutating func closed(_ deviceID: String) { questions[deviceID] = nil }

    /// What this device has sent was pasted, whoever asked for it.
    package mutating func pasted(_ deviceID: String) -> [Action] { end(deviceID) }

    /// Others could see from now on what is shown. Unless it `isKnown` what the user has put away, that may be all
    /// of it, and it does not come back.
    package mutating func locked(isKnown: Bool = true) -> [Action] {
        isLocked = true
        var actions: [Action] = []
        for (device, question) in questions.sorted(by: { $0.key < $1.key }) where question.isShown {
            actions.append(.withdraw(deviceID: device))
            questions[device]?.isShown = false
            if !isKnown { closed(device) }
        }
        return actions
    }

    /// Only the user sees from now on what is shown.
    package mutating func unlocked(at now: Instant) -> [Action] {
        isLocked = false
        return advance(to: now)
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        var actions: [Action] = []
        for (device, question) in questions.sorted(by: { $0.key < $1.key }) {
            if question.end <= now {
                actions += end(device)
            } else if !isLocked, !question.isShown {
                questions[device]?.isShown = true
                actions.append(.show(question.sent))
            }
        }
        return actions
    }

    /// Asks no more for this device.
    private mutating func end(_ device: String) -> [Action] {
        guard let question = questions.removeValue(forKey: device), question.isShown else { return [] }
        return [.withdraw(deviceID: device)]
    }
}
