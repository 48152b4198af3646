// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Performs what the state machine of pairing asks for, over one link.
@MainLoop
final class PairingDialogue {
    let link: Link
    private var machine: Pairing
    private unowned let pairings: Pairings
    /// The peer's `Commit`, while it waits for its answer.
    private var commit: CheckedContinuation<[UInt8], any Error>?
    private lazy var timer = DeadlineTimer { [weak self] in
        guard let self else { return }
        perform(machine.advance(to: .now))
    }

    /// How long the peer may take to answer what it answers by itself.
    private static let timeout = Duration.seconds(10)
    /// How long the peer may take to be told that the pairing is over.
    private static let farewell = Duration.seconds(1)
    /// For how long a dialogue is new, in microseconds.
    private static let moment: Int64 = 5_000_000

    init(_ link: Link, as ours: DeviceID, _ pairings: Pairings) {
        self.link = link
        self.pairings = pairings
        machine = Pairing(
            link.isDialled ? .initiator : .responder, nonce: RandomBytes.make(Pairing.size),
            transcript: PairingTranscript.make(
                link.exporter, client: link.isDialled ? ours : link.device,
                server: link.isDialled ? link.device : ours))
    }

    /// Whether the local user has begun the pairing or agreed to it.
    private(set) var isWanted = false
    /// Whether the dialogue began on another link, and has begun anew on this one.
    private var hasMoved = false
    /// When the local user began it, on the main loop's clock.
    private var begun: Int64?
    /// Whether this device took part in the attempt.
    private var tookPart = false
    /// The call that tells the peer that the pairing is over.
    private var cancelling: Task<Void, Never>?
    /// Whether the dialogue may begin anew on another link: once, and only while neither side has learnt
    /// anything from it.
    var canMove: Bool { isWanted && isActive && !hasMoved && !machine.isAnswered }
    /// Whether the local user has begun it just now.
    var isNew: Bool { begun.map { MainLoop.now - $0 < Self.moment } ?? false }

    var stage: Pairing.Stage { machine.stage }
    var isAsked: Bool { machine.isAsked }
    var code: String { machine.code }
    var isActive: Bool { machine.isActive }
    var isAgreed: Bool { machine.isAgreed }
    var isAnswered: Bool { machine.isAnswered }
    /// Whether the one attempt that the session allows is over.
    var isSpent: Bool { machine.isOver }

    // MARK: The local user

    func pair(hasMoved: Bool = false) {
        isWanted = true
        self.hasMoved = hasMoved
        begun = begun ?? MainLoop.now
        perform(machine.pair(at: .now))
    }

    func confirm(_ matches: Bool) throws { perform(try machine.confirm(matches)) }
    func cancel() { perform(machine.cancel()) }

    // MARK: The peer

    func requestReceived(_ call: MethodCall) throws {
        try pairings.check(link)
        try answer(call) { (machine, budget) throws(Pairing.Refusal) in
            try machine.requestReceived(budget: &budget, at: .now)
        }
    }

    func commitReceived(_ commitment: [UInt8], _ call: MethodCall) async throws -> [UInt8] {
        try pairings.check(link)
        let actions: [Pairing.Action]
        do throws(Pairing.Refusal) {
            actions = try machine.commitReceived(commitment, budget: &pairings.budget, at: .now)
        } catch {
            call.afterReply { [weak self] in self?.perform(error.actions) }
            throw error.failure
        }
        return try await withCheckedThrowingContinuation {
            commit = $0
            perform(actions)
        }
    }

    func revealReceived(_ nonce: [UInt8], _ call: MethodCall) throws {
        try answer(call) { (machine, _) throws(Pairing.Refusal) in
            try machine.revealReceived(nonce, at: .now)
        }
    }

    func confirmReceived(_ call: MethodCall) throws {
        try answer(call) { (machine, _) throws(Pairing.Refusal) in try machine.confirmReceived() }
    }

    func cancelReceived(_ reason: String, _ call: MethodCall) {
        let actions = machine.cancelReceived(reason)
        call.afterReply { [weak self] in self?.perform(actions) }
    }

    func linkEnded() { perform(machine.linkLost()) }

    /// The dialogue is continued elsewhere: nothing more happens here.
    func abandon() {
        timer.set(nil)
        machine.abandon()
        commit?.resume(throwing: HandoffFailure(.pairingFailed, "Pairing continues over another link."))
        commit = nil
    }

    /// Lets the state machine take a call from the peer; what the call causes happens after its answer.
    private func answer(
        _ call: MethodCall,
        _ event: (inout Pairing, inout PairingBudget) throws(Pairing.Refusal) -> [Pairing.Action]
    ) throws {
        do throws(Pairing.Refusal) {
            let actions = try event(&machine, &pairings.budget)
            call.afterReply { [weak self] in self?.perform(actions) }
        } catch {
            call.afterReply { [weak self] in self?.perform(error.actions) }
            throw error.failure
        }
    }

    // MARK: Actions

    private func perform(_ actions: [Pairing.Action]) {
        for action in actions { perform(action) }
        timer.set(machine.nextDeadline?.microseconds)
    }

    private func perform(_ action: Pairing.Action) {
        switch action {
        case .sendRequest: call { _ = try await $0.request(timeout: Self.timeout) }
        case .sendCommit(let commitment): sendCommit(commitment)
        case .answerCommit(let nonce):
            commit?.resume(returning: nonce)
            commit = nil
        case .sendReveal(let nonce): sendReveal(nonce)
        case .sendConfirm: call { try await $0.confirm(timeout: Self.timeout) }
        case .sendCancel(let reason):
            cancelling = MainLoop.start { [link] in
                try? await PairingProxy(link.remote).cancel(reason: reason, timeout: Self.farewell)
            }
        case .store: store()
        case .fail(let reason): fail(reason)
        case .changed:
            if machine.isAgreed { tookPart = true }
            pairings.changed(link.device)
        }
    }

    /// Calls the peer; an error ends the attempt.
    private func call(_ body: @escaping @MainLoop @Sendable (PairingProxy) async throws -> Void) {
        MainLoop.start { [self] in
            do {
                try await body(PairingProxy(link.remote))
            } catch {
                perform(machine.callFailed(Self.failure(error)))
            }
        }
    }

    private static func failure(_ error: any Error) -> PairingFailure {
        let isLost = HandoffFailure(routed: error).code == .connectionUnavailable
        return PairingFailure(
            isLost ? .disconnected : .refused, PeerText.message(DBusError.converting(error).message))
    }

    private func sendCommit(_ commitment: [UInt8]) {
        call { [self] proxy in
            // The other side may be waiting for its user.
            let nonce = try await proxy.commit(commitment: commitment, timeout: Deadline.pairing * 2)
            perform(machine.commitAnswered(nonce))
        }
    }

    private func sendReveal(_ nonce: [UInt8]) {
        call { [self] proxy in
            try await proxy.reveal(nonce: nonce, timeout: Self.timeout)
            perform(machine.revealAnswered(at: .now))
        }
    }

    private func store() {
        do {
            try pairings.store(link)
            perform(machine.stored())
            pairings.stored(link)
        } catch {
            perform(machine.stored("\(error)"))
        }
    }

    private func fail(_ reason: PairingFailure) {
        commit?.resume(throwing: HandoffFailure(.pairingFailed, "\(reason.message) Begin again."))
        commit = nil
        pairings.failed(link.device, reason, over: link, tookPart: isWanted || tookPart)
        MainLoop.start { [link, cancelling] in
            // What was said must have left, and the other side must not see the link end before it has heard
            // why.
            await cancelling?.value
            link.closeWhenSent("pairing has failed")
        }
    }
}

/// What pairing computes (protocol.md, "Pairing").
enum PairingTranscript {
    /// How many codes there are.
    static let codes: UInt64 = 1_000_000

    /// The functions for the session that has this exporter.
    static func make(
        _ exporter: [UInt8], client: DeviceID, server: DeviceID, codes: UInt64 = codes
    ) -> Pairing.Transcript {
        let session = exporter + client.bytes + server.bytes
        return Pairing.Transcript(
            commitment: { na in Digest.sha256(Array("handoff commit 1".utf8) + session + na) },
            code: { na, nb in
                let digest = Digest.sha256(Array("handoff pairing 1".utf8) + session + na + nb)
                let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % codes
                let digits = String(number)
                return String(repeating: "0", count: 6 - digits.utf8.count) + digits
            })
    }
}
