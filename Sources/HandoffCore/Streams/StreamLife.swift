// SPDX-License-Identifier: LGPL-2.1-or-later

/// The life of one stream at one of its two devices, from the moment when it has both its connections: the
/// one with the application here, and the one with the other device.
///
/// Each direction ends on its own. It has ended in order when the application that writes has ended it and
/// the other side has been told so. Any other end is a break, and the application that reads is told of it.
package struct StreamLife: Sendable {
    /// What happens to it.
    package enum Event: Hashable, Sendable {
        /// The application here has ended its direction, and the other device has been told.
        case outgoingEnded
        /// The other application has ended its direction, and the application here has been told.
        case incomingEnded
        /// The application here has closed its end, so that it neither writes nor reads any more.
        case applicationClosed
        /// The other device, having ended its direction, no longer needs the connection.
        case connectionEnded
        /// Nothing more can be sent, for this reason; what has come may still be on its way to the application here, which has
        /// been told that it cannot write.
        case sendingFailed(String)
        /// The connection is broken, for this reason.
        case failed(String)
        /// The stream must end now, for this reason.
        case cut(String)
        /// One of the two threads that move its bytes has ended.
        case threadEnded
    }

    /// What an event asks to be done.
    package enum Action: Hashable, Sendable {
        /// Tell the other device that nothing more will be sent, and that nothing more is wanted.
        case finish
        /// Make both threads end.
        case stop
        /// Close the end of the application; unless `isClean`, it reads an error.
        case close(isClean: Bool, Outcome)
    }

    /// How it ended.
    package enum Outcome: Hashable, Sendable {
        /// Both applications have ended their directions.
        case complete
        /// The application here has closed it before the other has ended its direction.
        case closedHere
        /// The other application has closed it before this one has ended its direction.
        case closedThere
        /// It broke, for this reason.
        case broken(String)
    }

    private var hasOutgoingEnded = false
    private var hasIncomingEnded = false
    private var isApplicationGone = false
    private var isFinished = false
    private var outcome: Outcome?
    private var threads = 2

    /// A stream in which nothing has ended.
    package init() {}

    /// Whether the stream will end on its own, as soon as what has been written has arrived.
    package var isFinishing: Bool { isFinished || outcome != nil }

    /// Something has happened to it.
    /// - Returns: what to do, in this order.
    package mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .outgoingEnded: hasOutgoingEnded = true
        case .incomingEnded: hasIncomingEnded = true
        case .applicationClosed: isApplicationGone = true
        // The other application may just have gone away; the thread that receives finds out whether it has.
        case .sendingFailed: return []
        case .connectionEnded: return stop(hasOutgoingEnded ? .complete : .closedThere)
        // A connection that is no longer wanted ends once the other device has been told so.
        case .failed(let reason):
            return stop(!isFinished ? .broken(reason) : hasIncomingEnded ? .complete : .closedHere)
        case .cut(let reason): return stop(.broken(reason))
        case .threadEnded:
            threads -= 1
            guard threads == 0 else { return [] }
            return [.close(isClean: hasIncomingEnded, outcome ?? .broken("its threads have ended"))]
        }
        guard hasOutgoingEnded, hasIncomingEnded || isApplicationGone, !isFinishing else { return [] }
        isFinished = true
        return [.finish]
    }

    /// Only the first reason counts.
    private mutating func stop(_ outcome: Outcome) -> [Action] {
        guard self.outcome == nil else { return [] }
        self.outcome = outcome
        return [.stop]
    }
}
