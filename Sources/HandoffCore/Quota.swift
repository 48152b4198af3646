// SPDX-License-Identifier: LGPL-2.1-or-later

/// How much one connection, one process or one peer may have.
package enum Quota {
    /// Activities of one connection.
    package static let activities = 64
    /// Open streams of one connection.
    package static let streams = 16
    /// Open streams with one peer.
    package static let streamsOfPeer = 16
    /// Documents that are on their way to one peer, and as many from it, beside the streams.
    package static let documentsOfPeer = 1
    /// Streams and documents of one peer whose connections are still expected: as many as there may be.
    package static let tokensOfPeer = streamsOfPeer + 2 * documentsOfPeer
    /// Continuations that one connection holds.
    package static let continuations = 8
    /// Activity types of one connection.
    package static let types = 256
    /// Web hosts that an application claims.
    package static let domains = 32
    /// Messages that a connection may leave unread while it does not answer either.
    package static let outstandingMessages = 64
    /// Messages that a connection may leave unread, however little time it has had for them.
    package static let unansweredMessages = 1024
    /// How many calls in a row without an answer are too many.
    package static let unansweredCalls = 3
    /// How much more a process may have than one connection: activities, streams, continuations and types.
    package static let processes = 4
    /// The bytes that the properties of all activities of one connection take.
    package static let payload = 8 << 20
    /// The bytes that the properties of all activities of one process take.
    package static let payloadOfProcess = 16 << 20
    /// The bytes that the properties of all activities take, together with what applications declare.
    package static let payloadOfAll = 64 << 20
    /// What an activity counts as at least, in bytes, because it takes memory besides its properties.
    package static let smallestActivity = 2048
    /// Live continuations of one peer at the origin.
    package static let continuationsOfPeer = 8
    /// Types of activities for which the user has chosen an application.
    package static let choices = 256
    /// Activities of one application that are listed for a peer.
    package static let openOfApplication = 3
    /// Activities that are listed for a peer, and that are continued at once.
    package static let open = 24
    /// Open activities that are left with a peer beside what is offered.
    package static let openLeft = 8
    /// The bytes that the properties of one of them take.
    package static let payloadOfOpenLeft = 64 << 10
    /// The bytes that the properties of all of them take.
    package static let payloadOfAllOpenLeft = 512 << 10
    /// Paired devices.
    package static let peers = 62
}
