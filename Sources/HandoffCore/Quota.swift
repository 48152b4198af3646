// SPDX-License-Identifier: LGPL-2.1-or-later

/// How much one connection, one process or one peer may have.
public enum Quota {
    /// Activities of one connection.
    public static let activities = 64
    /// Open streams of one connection.
    public static let streams = 16
    /// Open streams with one peer.
    public static let streamsOfPeer = 16
    /// Documents that are on their way to one peer, and as many from it, beside the streams.
    public static let documentsOfPeer = 1
    /// Streams and documents of one peer whose connections are still expected: as many as there may be.
    public static let tokensOfPeer = streamsOfPeer + 2 * documentsOfPeer
    /// Continuations that one connection holds.
    public static let continuations = 8
    /// Activity types of one connection.
    public static let types = 256
    /// Web hosts that an application claims.
    public static let domains = 32
    /// Messages that a connection may leave unread while it does not answer either.
    public static let outstandingMessages = 64
    /// Messages that a connection may leave unread, however little time it has had for them.
    public static let unansweredMessages = 1024
    /// How many calls in a row without an answer are too many.
    public static let unansweredCalls = 3
    /// Clients that talk to the broker past the bus daemon, in all; ``processes`` of one process.
    public static let sockets = 64
    /// How much more a process may have than one connection: activities, streams, continuations and types.
    public static let processes = 4
    /// The bytes that the properties of all activities of one connection take.
    public static let payload = 8 << 20
    /// The bytes that the properties of all activities of one process take.
    public static let payloadOfProcess = 16 << 20
    /// The bytes that the properties of all activities take, together with what applications declare.
    public static let payloadOfAll = 64 << 20
    /// What an activity counts as at least, in bytes, because it takes memory besides its properties.
    public static let smallestActivity = 2048
    /// Live continuations of one peer at the origin.
    public static let continuationsOfPeer = 8
    /// Types of activities for which the user has chosen an application.
    public static let choices = 256
    /// Paired devices.
    public static let peers = 62
}
