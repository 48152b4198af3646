// SPDX-License-Identifier: LGPL-2.1-or-later

/// One attempt at pairing with the device at the other end of a TLS session (protocol.md, "Pairing"): commit, reveal,
/// and both users compare six digits.
///
/// Whatever the other side does, `store` comes only if the local user has said that the codes match and the
/// other side has confirmed; `fail` comes at most once, and never together with `store`; after either of them
/// nothing more happens, since one session is good for one attempt. An event that throws has ended the
/// attempt: its error is the answer to the peer.
package struct Pairing: Sendable {
    /// Which end of the TLS session this device is, which decides who commits first.
    package enum Role: Sendable {
        /// The TLS client, I.
        case initiator
        /// The TLS server, R.
        case responder
    }

    /// What the user sees of the attempt: the property `PairingState`.
    package enum Stage: String, Sendable {
        case none, waiting, comparing, confirmed
    }

    /// What an event asks to be done.
    package enum Action: Hashable, Sendable {
        /// Call `Request`.
        case sendRequest
        /// Call `Commit` with these 32 bytes, and report the answer.
        case sendCommit([UInt8])
        /// Answer the peer's `Commit` with these 32 bytes.
        case answerCommit([UInt8])
        /// Call `Reveal` with these 32 bytes, and report the answer.
        case sendReveal([UInt8])
        /// Call `Confirm`.
        case sendConfirm
        /// Call `Cancel` with this reason.
        case sendCancel(String)
        /// Store the device durably, and report what came of it.
        case store
        /// The attempt has failed for this reason: tell the user, refuse a `Commit` that waits for its
        /// answer, and close the link.
        case fail(PairingFailure)
        /// The stage or the code has changed.
        case changed
    }

    /// What is computed from the session, the devices and the nonces.
    package struct Transcript: Sendable {
        /// Computes the commitment C to Na.
        let commitment: @Sendable (_ na: [UInt8]) -> [UInt8]
        /// Computes the six digits from Na and Nb.
        let code: @Sendable (_ na: [UInt8], _ nb: [UInt8]) -> String

        /// A transcript that computes with these functions.
        package init(
            commitment: @escaping @Sendable (_ na: [UInt8]) -> [UInt8],
            code: @escaping @Sendable (_ na: [UInt8], _ nb: [UInt8]) -> String
        ) {
            self.commitment = commitment
            self.code = code
        }
    }

    private enum State {
        case idle
        /// R has asked, or I was asked by R.
        case requested
        /// I has committed, and waits for Nb.
        case committed
        /// R was sent this commitment, and waits for its user.
        case held([UInt8])
        /// R has answered this commitment, and waits for Na.
        case answered([UInt8])
        /// I has revealed Na, having got this Nb.
        case revealed([UInt8])
        /// Both have the code; who has said yes to it.
        case comparing(code: String, local: Bool, peer: Bool)
        case storing
        case paired
        case failed
    }

    /// The length of nonces and commitments in bytes.
    package static let size = 32

    private var state = State.idle
    private let role: Role
    private let nonce: [UInt8]
    private let transcript: Transcript
    /// When `advance(to:)` has something to do; nil if time changes nothing.
    package private(set) var nextDeadline: Instant?

    /// An attempt that has not begun; `nonce` are 32 random bytes that nobody else knows.
    package init(_ role: Role, nonce: [UInt8], transcript: Transcript) {
        self.role = role
        self.nonce = nonce
        self.transcript = transcript
    }

    /// What the user sees.
    package var stage: Stage {
        switch state {
        case .idle, .paired, .failed: .none
        case .requested, .committed, .held, .answered, .revealed: .waiting
        case .comparing(_, local: false, _): .comparing
        case .comparing, .storing: .confirmed
        }
    }

    /// Whether the other side has asked and this device has yet to agree, which is up to its user.
    package var isAsked: Bool {
        switch (state, role) {
        case (.requested, .initiator), (.held, _): true
        default: false
        }
    }

    /// The six digits, in two groups, while they are compared; empty otherwise.
    package var code: String {
        guard case .comparing(let code, _, _) = state else { return "" }
        return "\(code.prefix(3)) \(code.dropFirst(3))"
    }

    /// Whether an attempt is under way.
    package var isActive: Bool { stage != .none }

    /// Whether it has succeeded or failed.
    package var isOver: Bool {
        switch state {
        case .paired, .failed: true
        default: false
        }
    }

    /// Whether this device takes part in an attempt, because its user or its budget has agreed to that.
    package var isAgreed: Bool {
        switch state {
        case .idle, .held, .paired, .failed: false
        case .requested, .committed, .answered, .revealed, .comparing, .storing: true
        }
    }

    /// Whether the attempt is spent on this session: `Commit` was answered, and nothing has ended it since.
    package var isAnswered: Bool {
        switch state {
        case .answered, .revealed, .comparing, .storing: true
        case .idle, .requested, .committed, .held, .paired, .failed: false
        }
    }

    // MARK: The local user

    /// The user wants to pair, or agrees to it. If an attempt is under way in any other state, nothing
    /// changes.
    package mutating func pair(at now: Instant) -> [Action] {
        switch (state, role) {
        case (.idle, .initiator), (.requested, .initiator): return commit(at: now)
        case (.idle, .responder): return wait(.requested, at: now) + [.sendRequest]
        case (.held(let commitment), _): return answer(commitment, at: now)
        default: return []
        }
    }

    /// The user says whether the codes match. Fails with `pairingFailed` if none is compared; then nothing changes.
    package mutating func confirm(_ matches: Bool) throws(HandoffFailure) -> [Action] {
        guard case .comparing(let code, local: false, let peer) = state else {
            throw HandoffFailure(.pairingFailed, "No code is being compared. Begin pairing first.")
        }
        guard matches else { return cancel(PairingFailure(.ended, "The codes did not match.")) }
        state = .comparing(code: code, local: true, peer: peer)
        return [.sendConfirm, .changed] + storeIfAgreed()
    }

    /// The user ends the attempt. Without one nothing happens.
    package mutating func cancel() -> [Action] { cancel(PairingFailure(.ended, "The user has cancelled.")) }

    private mutating func cancel(_ reason: PairingFailure) -> [Action] {
        isActive ? [.sendCancel(reason.message)] + fail(reason) : []
    }

    // MARK: The peer

    /// R asks to pair: I continues at once if its budget allows, and otherwise when its user agrees.
    package mutating func requestReceived(
        budget: inout PairingBudget, at now: Instant
    ) throws(Refusal) -> [Action] {
        guard role == .initiator else { throw refuse("it asked, though it is its part to commit") }
        switch state {
        case .idle: return budget.take(at: now) ? commit(at: now) : wait(.requested, at: now)
        // The request and our commitment have crossed.
        case .committed: return []
        default: throw refuse("it asked out of order")
        }
    }

    /// I has committed: R answers at once if its user has asked or its budget allows, and otherwise when its
    /// user agrees.
    package mutating func commitReceived(
        _ commitment: [UInt8], budget: inout PairingBudget, at now: Instant
    ) throws(Refusal) -> [Action] {
        guard role == .responder, commitment.count == Self.size else {
            throw refuse("its commitment is none")
        }
        switch state {
        case .requested: return answer(commitment, at: now)
        case .idle:
            return budget.take(at: now) ? answer(commitment, at: now) : wait(.held(commitment), at: now)
        default: throw refuse("it committed itself twice")
        }
    }

    /// R has answered `Commit`. Later answers do nothing.
    package mutating func commitAnswered(_ nb: [UInt8]) -> [Action] {
        guard case .committed = state else { return [] }
        guard nb.count == Self.size else {
            return fail(
                PairingFailure(.refused, "Its answer has \(nb.count) bytes instead of \(Self.size)."))
        }
        state = .revealed(nb)
        return [.sendReveal(nonce)]
    }

    /// I reveals what it had committed itself to.
    package mutating func revealReceived(_ na: [UInt8], at now: Instant) throws(Refusal) -> [Action] {
        guard case .answered(let commitment) = state else { throw refuse("it revealed out of order") }
        guard na.count == Self.size, transcript.commitment(na) == commitment else {
            throw refuse("it revealed something else than it had committed itself to")
        }
        return compare(transcript.code(na, nonce), at: now)
    }

    /// R has answered `Reveal`. Later answers do nothing.
    package mutating func revealAnswered(at now: Instant) -> [Action] {
        guard case .revealed(let nb) = state else { return [] }
        return compare(transcript.code(nonce, nb), at: now)
    }

    /// The other user has said that the codes match.
    package mutating func confirmReceived() throws(Refusal) -> [Action] {
        guard case .comparing(let code, let local, peer: false) = state else {
            throw refuse("it confirmed out of order")
        }
        state = .comparing(code: code, local: local, peer: true)
        return storeIfAgreed()
    }

    /// The other side has ended the attempt; `reason` is its own text.
    package mutating func cancelReceived(_ reason: String) -> [Action] {
        let words = PeerText.message(reason)
        let text = words.isEmpty ? "The other device has cancelled." : "The other device: \(words)"
        return isActive ? fail(PairingFailure(.ended, text)) : []
    }

    /// A call of the peer was answered with an error, or not at all.
    package mutating func callFailed(_ failure: PairingFailure) -> [Action] { isActive ? fail(failure) : [] }

    // MARK: The rest

    /// Storing the device durably has succeeded, or has failed with the message `failure`.
    package mutating func stored(_ failure: String? = nil) -> [Action] {
        guard case .storing = state else { return [] }
        if let failure {
            return [.sendCancel("It could not be stored.")] + fail(PairingFailure(.notStored, failure))
        }
        (state, nextDeadline) = (.paired, nil)
        return [.changed]
    }

    /// The attempt continues over another link: nothing more happens here.
    package mutating func abandon() { (state, nextDeadline) = (.failed, nil) }

    /// The session is over.
    package mutating func linkLost() -> [Action] {
        isActive ? fail(PairingFailure(.disconnected, "The link was lost.")) : []
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        guard let nextDeadline, nextDeadline <= now else { return [] }
        return cancel(
            PairingFailure(
                .timedOut, "Nobody agreed within \(Deadline.pairing.components.seconds) seconds."))
    }

    // MARK: Steps

    /// Why the peer's call is refused; the attempt is over.
    package struct Refusal: Error, Hashable, Sendable {
        /// The answer to the call.
        package let failure: HandoffFailure
        /// What else is to be done.
        package let actions: [Action]
    }

    private mutating func refuse(_ what: String) -> Refusal {
        let wasOver =
            switch state {
            case .paired, .failed, .storing: true
            default: false
            }
        let failure = HandoffFailure(.pairingFailed, "Pairing has ended: \(what). Begin again.")
        return Refusal(
            failure: failure,
            actions: wasOver ? [] : fail(PairingFailure(.refused, "The other device did wrong: \(what).")))
    }

    private mutating func wait(_ next: State, at now: Instant) -> [Action] {
        (state, nextDeadline) = (next, now.advanced(by: Deadline.pairing))
        return [.changed]
    }

    private mutating func commit(at now: Instant) -> [Action] {
        wait(.committed, at: now) + [.sendCommit(transcript.commitment(nonce))]
    }

    private mutating func answer(_ commitment: [UInt8], at now: Instant) -> [Action] {
        wait(.answered(commitment), at: now) + [.answerCommit(nonce)]
    }

    private mutating func compare(_ code: String, at now: Instant) -> [Action] {
        wait(.comparing(code: code, local: false, peer: false), at: now)
    }

    private mutating func storeIfAgreed() -> [Action] {
        guard case .comparing(_, local: true, peer: true) = state else { return [] }
        (state, nextDeadline) = (.storing, nil)
        return [.store]
    }

    private mutating func fail(_ reason: PairingFailure) -> [Action] {
        (state, nextDeadline) = (.failed, nil)
        return [.fail(reason), .changed]
    }
}
