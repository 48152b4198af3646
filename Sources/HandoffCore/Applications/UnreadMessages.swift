// SPDX-License-Identifier: LGPL-2.1-or-later

/// Counts the calls and signals that connections were sent and have not read. One that reads none is forgotten,
/// since its messages would pile up in the bus.
///
/// Whoever answers a call has read everything that was sent before it. A connection that has not answered for
/// a while is asked whether it is there. It is forgotten after three calls in a row without an answer in
/// time, or if a call is not answered while ``Quota/outstandingMessages`` messages are unread.
package struct UnreadMessages: Sendable {
    /// What an event asks to be done.
    package enum Action: Hashable, Sendable {
        /// Call `Ping`, with ``Deadline/ping``, and report its outcome like that of any other call.
        case ping(String)
        /// Drop all that belongs to the connection, and send it nothing but replies.
        case forget(String, Neglect)
    }

    /// What a connection did not do.
    package enum Neglect: Hashable, Sendable {
        /// It left as many calls in a row unanswered as are tolerated.
        case unansweredCalls
        /// It left this many messages unread.
        case unreadMessages(Int)
    }

    private struct Reader {
        /// How many messages it was sent in all.
        var sent = 0
        /// How many of them it has read for certain.
        var read = 0
        /// For each call that has no answer yet, by serial number: how many messages the connection had been
        /// sent up to that call.
        var calls: [UInt32: Int] = [:]
        /// For each call that was not answered in time, how many messages had been sent up to it: at most as
        /// many calls as are tolerated.
        var late: [UInt32: Int] = [:]
        /// How many calls in a row were not answered in time.
        var failures = 0
        /// Whether there is a `Ping` under way.
        var isAsked = false
        var isForgotten = false

        var outstanding: Int { sent - read }
    }

    private var readers: [String: Reader] = [:]

    /// Nothing has been sent to anybody yet.
    package init() {}

    /// Whether nothing may be sent to `connection`.
    package func isForgotten(_ connection: String) -> Bool { readers[connection]?.isForgotten == true }

    /// A message, number `serial` of all, was sent to `connection`. A call is answered or not, once.
    package mutating func sent(_ serial: UInt32, to connection: String, isCall: Bool) -> [Action] {
        var reader = readers[connection] ?? Reader()
        defer { readers[connection] = reader }
        guard !reader.isForgotten else { return [] }
        reader.sent += 1
        if isCall { reader.calls[serial] = reader.sent }
        if reader.outstanding > Quota.unansweredMessages {
            return forget(connection, &reader, .unreadMessages(reader.outstanding))
        }
        guard reader.outstanding >= Quota.outstandingMessages / 2, !reader.isAsked else { return [] }
        reader.isAsked = true
        return [.ping(connection)]
    }

    /// `connection` has answered the call `serial`, whatever it has answered, and however late.
    package mutating func answered(_ serial: UInt32, by connection: String) {
        guard var reader = readers[connection],
            let position = reader.calls.removeValue(forKey: serial) ?? reader.late[serial]
        else { return }
        reader.read = max(reader.read, position)
        reader.failures = 0
        reader.late = [:]
        reader.isAsked = false
        readers[connection] = reader
    }

    /// The call `serial` has not been answered, and nobody waits for an answer any longer.
    package mutating func abandoned(_ serial: UInt32, to connection: String) {
        guard readers[connection]?.calls.removeValue(forKey: serial) != nil else { return }
        readers[connection]?.isAsked = false
    }

    /// `connection` has not answered the call `serial` in time.
    package mutating func unanswered(_ serial: UInt32, by connection: String) -> [Action] {
        guard var reader = readers[connection], let position = reader.calls.removeValue(forKey: serial),
            !reader.isForgotten
        else { return [] }
        defer { readers[connection] = reader }
        reader.failures += 1
        reader.late[serial] = position
        reader.isAsked = false
        if reader.failures >= Quota.unansweredCalls { return forget(connection, &reader, .unansweredCalls) }
        guard reader.outstanding >= Quota.outstandingMessages else { return [] }
        return forget(connection, &reader, .unreadMessages(reader.outstanding))
    }

    /// `connection` wants to be told of things: from now on it counts like a new one.
    package mutating func welcome(_ connection: String) {
        if isForgotten(connection) { readers[connection] = nil }
    }

    /// `connection` has left the bus.
    package mutating func vanished(_ connection: String) { readers[connection] = nil }

    private func forget(_ connection: String, _ reader: inout Reader, _ neglect: Neglect) -> [Action] {
        reader = Reader(isForgotten: true)
        return [.forget(connection, neglect)]
    }
}
