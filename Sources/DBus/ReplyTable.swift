// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// The calls that wait for their replies, by serial number, with one timer for all of them.
@MainLoop
final class ReplyTable {
    private struct Pending {
        let continuation: CheckedContinuation<Message, any Error>
        /// When the wait ends, in microseconds of the monotonic clock.
        let deadline: Int64
        /// The only one who may answer besides the bus, nil if it is not known.
        let destination: BusName?
        let what: MethodName?
        var text: String { what?.text ?? "A call" }
        /// For whose sake the call was made.
        let account: TimeAccount?
    }

    private var pending: [UInt32: Pending] = [:]
    /// The calls that were not answered and that nobody waits for any longer, the oldest first.
    private var late: [UInt32] = []
    /// How many late calls are remembered.
    private static let maximumLate = 256
    /// The observer that is told whether calls to single connections are answered in time.
    weak var observer: (any DeliveryObserver)?
    private var timer: LoopSource?
    private var timerDeadline = Int64.max

    /// Waits for the reply to the call with `serial`.
    func add(
        _ serial: UInt32, to destination: BusName?, timeout: Duration, _ what: MethodName?,
        _ continuation: CheckedContinuation<Message, any Error>
    ) {
        // No more than a century, so that the sum cannot overflow.
        let seconds = min(max(timeout.components.seconds, 0), 100 * 366 * 86_400)
        let deadline = MainLoop.now + seconds * 1_000_000 + timeout.components.attoseconds / 1_000_000_000_000
        pending[serial] = Pending(
            continuation: continuation, deadline: deadline, destination: destination, what: what,
            account: MainLoop.account)
        if deadline < timerDeadline { arm(deadline) }
    }

    /// What is known of the call with `serial`.
    func standing(of serial: UInt32) -> ReplyStanding {
        if let call = pending[serial] { return .awaited(call.text) }
        return late.contains(serial) ? .late : .unknown
    }

    /// Whether the call with `serial` asked merely whether somebody is there. What that means does not depend on what else was
    /// said, and others may wait for it.
    func isPing(_ serial: UInt32) -> Bool { pending[serial]?.what == Self.ping }

    private static let ping = MethodName(interface: .peer, member: "Ping")

    /// For whose sake the call with `serial` was made.
    func account(of serial: UInt32) -> TimeAccount? { pending[serial]?.account }

    /// The call with `serial` has been answered, too late.
    func forgetLate(_ serial: UInt32) { late.removeAll { $0 == serial } }

    private func noteLate(_ serial: UInt32) {
        if late.count == Self.maximumLate { late.removeFirst() }
        late.append(serial)
    }

    /// Gives `message` to the call that it answers.
    /// - Returns: false if no such call waits, or somebody else was called.
    func resolve(_ message: Message) -> Bool {
        guard let waiting = pending[message.replySerial], mayAnswer(message, waiting.destination),
            let call = remove(message.replySerial)
        else {
            // Even a late answer counts here: whoever sent it has read the call.
            if let sender = message.sender { observer?.answered(message.replySerial, by: sender) }
            return false
        }
        if let destination = call.destination {
            if message.isFrom(destination) {
                observer?.answered(message.replySerial, by: destination)
            } else {
                observer?.abandoned(message.replySerial, to: destination)
            }
        }
        // Whoever waits is on the main loop too (``Connection/call(_:timeout:)``), so the message is not sent
        // anywhere.
        nonisolated(unsafe) let reply = message
        MainLoop.charge(call.account) {
            do throws(DBusError) {
                try reply.checkBody()
                if let error = reply.error { throw error }
                call.continuation.resume(returning: reply)
            } catch {
                call.continuation.resume(throwing: error)
            }
        }
        return true
    }

    /// A bus lets anybody answer anything, and serial numbers can be guessed.
    private func mayAnswer(_ message: Message, _ destination: BusName?) -> Bool {
        guard let destination, message.hasSender else { return true }
        return message.isFrom(destination) || message.isFrom(Bus.name)
    }

    /// Ends the wait for `serial`, if there is one, with `error`.
    func cancel(_ serial: UInt32, _ error: any Error = CancellationError()) {
        guard let call = remove(serial) else { return }
        noteLate(serial)
        if let destination = call.destination { observer?.abandoned(serial, to: destination) }
        call.continuation.resume(throwing: error)
    }

    /// Ends all waits, in the order in which they began: what is asked once more is asked in that order.
    func failAll(_ error: DBusError) {
        let calls = pending.sorted { $0.key < $1.key }.map(\.value)
        pending = [:]
        disarm()
        for call in calls { call.continuation.resume(throwing: error) }
    }

    private func remove(_ serial: UInt32) -> Pending? {
        guard let call = pending.removeValue(forKey: serial) else { return nil }
        // An idle process has no timer.
        if pending.isEmpty { disarm() }
        return call
    }

    private func disarm() {
        timer?.cancel()
        timer = nil
        timerDeadline = .max
    }

    private func arm(_ deadline: Int64) {
        timer?.cancel()
        timerDeadline = deadline
        timer = .timer(after: .microseconds(max(0, deadline - MainLoop.now))) { [weak self] in
            self?.expire()
        }
    }

    private func expire() {
        let now = MainLoop.now
        let due = pending.filter { $1.deadline <= now }.sorted { $0.value.deadline < $1.value.deadline }
        for (serial, call) in due {
            pending[serial] = nil
            noteLate(serial)
            if let destination = call.destination { observer?.unanswered(serial, by: destination) }
            call.continuation.resume(throwing: DBusError(.noReply, "\(call.text) was not answered in time."))
        }
        disarm()
        if let next = pending.values.map(\.deadline).min() { arm(next) }
    }
}

/// What a connection knows of a reply that has come, by the serial number of the call.
package enum ReplyStanding: Equatable, Sendable {
    /// Somebody waits for it; written `interface.member`.
    case awaited(String)
    /// Somebody waited for it, but not long enough.
    case late
    /// There never was such a call, it has been answered, or it was too long ago.
    case unknown
}
