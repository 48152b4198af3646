// SPDX-License-Identifier: LGPL-2.1-or-later

/// How much goes by an ``AttachedSocket``, in bytes and messages.
package struct AttachedLimits: Sendable {
    /// How many bytes a message may take that comes.
    let longestReceived: Int
    /// How many bytes a message may take that is sent.
    let longestSent: Int
    /// How many bytes may wait to be sent before it is crowded.
    let comfortable: Int
    /// How many bytes may wait, besides a first message of whatever size; if they are more, it ends.
    let unsent: Int
    /// How many messages are taken before others get their turn.
    let messagesATurn: Int
    /// How many calls may run at a time; while they do, nothing is read.
    let calls: Int
    /// Whether nothing is read of who does not read answers, which therefore count for ``comfortable`` and not for
    /// ``unsent``. Two sides that both did so could wait for each other.
    let holdsBackWhoDoesNotRead: Bool

    /// Between two daemons. No message that they have for each other is that long.
    package static let betweenDaemons = AttachedLimits(
        longestReceived: 4 << 20, longestSent: 4 << 20, comfortable: 4 << 20, unsent: 64 << 20,
        messagesATurn: 64, calls: .max, holdsBackWhoDoesNotRead: false)
    /// At a daemon, to one of many clients. A list of all objects may be long.
    package static let toClient = AttachedLimits(
        longestReceived: 4 << 20, longestSent: 64 << 20, comfortable: 1 << 20, unsent: 8 << 20,
        messagesATurn: 8, calls: 1024, holdsBackWhoDoesNotRead: true)
    /// At a client, to a daemon.
    package static let toDaemon = AttachedLimits(
        longestReceived: 64 << 20, longestSent: 4 << 20, comfortable: 4 << 20, unsent: 64 << 20,
        messagesATurn: 64, calls: .max, holdsBackWhoDoesNotRead: false)
}
