// SPDX-License-Identifier: LGPL-2.1-or-later

/// How much goes by an ``AttachedSocket``, in bytes and messages.
public struct AttachedLimits: Sendable {
    /// How many bytes a message may take that comes.
    let received: Int
    /// How many bytes a message may take that is sent.
    let sent: Int
    /// How many bytes may wait to be sent before it is crowded.
    let comfortable: Int
    /// How many bytes may wait, beside a single message of whatever size; if they are more, it ends.
    let unsent: Int
    /// How many messages may wait.
    let waiting: Int
    /// How many messages are taken before others get their turn.
    let messagesATurn: Int
    /// How many calls may run at a time; while they do, nothing is read.
    let calls: Int
    /// Whether nothing is read while it is crowded. This holds back whoever asks and does not read the answers, which
    /// therefore may be more than ``unsent``; two sides that both did so could wait for each other.
    let readsOnlyWhenRead: Bool

    /// Between two daemons. No message that they have for each other is that long.
    public static let daemons = AttachedLimits(
        received: 4 << 20, sent: 4 << 20, comfortable: 4 << 20, unsent: 64 << 20, waiting: 1 << 18,
        messagesATurn: 64, calls: .max, readsOnlyWhenRead: false)
    /// At a daemon, to one of many clients. A list of all objects may be long.
    public static let client = AttachedLimits(
        received: 4 << 20, sent: 64 << 20, comfortable: 1 << 20, unsent: 8 << 20, waiting: 1 << 14,
        messagesATurn: 8, calls: 1024, readsOnlyWhenRead: true)
    /// At a client, to a daemon.
    public static let daemon = AttachedLimits(
        received: 64 << 20, sent: 4 << 20, comfortable: 4 << 20, unsent: 64 << 20, waiting: 1 << 18,
        messagesATurn: 64, calls: .max, readsOnlyWhenRead: false)
}
