// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
package import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The broker of the session.
///
/// The kit is on the main actor, what it stands on is on the main loop, and these may be two threads. What is called within
/// one turn goes there together, in order, and what happens there comes back in order. So that what comes back is not
/// taken for newer than what is on its way there, turns are counted.
@MainActor
package final class BusBackend: HandoffBackend {
    package weak var receiver: (any HandoffBackendReceiver)?

    /// Something that was called and has to be done on the main loop.
    private typealias Command = @MainLoop @Sendable (BusListener) -> Void

    private let listener: BusListener
    private var commands: [Command] = []
    private var isPassing = false
    /// How many turns have been passed.
    private var turn: UInt64 = 0
    /// In which turn each property was set last.
    private var latest: [ActivityNumber: [String: UInt64]] = [:]

    /// The session bus of the environment, which is connected to by ``start(_:)``.
    package convenience init() { self.init(.session) }

    /// The bus at `address`.
    package init(_ address: Bus.Address) {
        let events = BusEventQueue()
        listener = BusListener(address, events)
        events.taker = self
    }

    deinit {
        let listener = listener
        MainLoop.start { listener.end() }
    }

    // MARK: What the kit calls

    package func start(_ declaration: ApplicationDeclaration) {
        let declaration = ClientDeclaration(
            applicationID: declaration.id, activityTypes: declaration.activityTypes, team: declaration.team,
            documentTypes: declaration.documentTypes, domains: declaration.domains)
        pass { $0.client.start(declaration) }
    }

    package func stop() {
        latest = [:]
        pass { $0.client.stop() }
    }

    package func create(_ number: ActivityNumber, type: String, properties: [String: Value]) {
        pass { $0.client.create(ActivityKey(number.value), type: type, properties: properties) }
    }

    package func update(_ number: ActivityNumber, _ properties: [String: Value]) {
        for name in properties.keys { latest[number, default: [:]][name] = turn + 1 }
        pass { $0.client.update(ActivityKey(number.value), properties) }
    }

    package func becomeCurrent(_ number: ActivityNumber) {
        pass { $0.client.becomeCurrent(ActivityKey(number.value)) }
    }

    package func resignCurrent(_ number: ActivityNumber) {
        pass { $0.client.resignCurrent(ActivityKey(number.value)) }
    }

    package func invalidate(_ number: ActivityNumber) {
        latest[number] = nil
        pass { $0.client.invalidate(ActivityKey(number.value)) }
    }

    package func timer(after time: Duration, _ body: @escaping @MainActor () -> Void) -> BackendTimer {
        let (timer, source) = (BackendTimer(body), LoopTimer())
        MainLoop.start { source.set(after: time) { timer.fire() } }
        timer.whenOver { MainLoop.start { source.cancel() } }
        return timer
    }

    package func openStream(_ number: ContinuationNumber) async throws(HandoffFailure) -> CInt {
        // What was called before comes first.
        passAll()
        let (listener, opening) = (listener, Handover<CInt, HandoffFailure>())
        MainLoop.start { opening.resume(with: await listener.openStream(ContinuationKey(number.value))) }
        return try await opening.take()
    }

    package func release(_ number: ContinuationNumber) {
        pass { $0.client.release(ContinuationKey(number.value)) }
    }

    private func pass(_ command: @escaping Command) {
        commands.append(command)
        if isPassing { return }
        isPassing = true
        Task { [weak self] in self?.passAll() }
    }

    private func passAll() {
        isPassing = false
        let (all, listener) = (commands, listener)
        commands = []
        if all.isEmpty { return }
        turn += 1
        let turn = turn
        MainLoop.start {
            for command in all { command(listener) }
            listener.turn = turn
        }
    }

    // MARK: What happens

    /// Tells the receiver of `event`.
    func happened(_ event: BusEvent) {
        guard let receiver else { return event.refuse() }
        switch event {
        case .standing(let standing): receiver.standingChanged(standing)
        case .current(let number, let isCurrent): receiver.currentChanged(number, isCurrent)
        case .needsSave(let number, let needsSave): receiver.needsSaveChanged(number, needsSave)
        case .created(let number, let type): receiver.created(number, type: type)
        case .refused(let number, let failure, let restored, let turn):
            let newer = latest[number]?.filter { $0.value > turn } ?? [:]
            receiver.refused(number, failure, restored: restored.filter { newer[$0.key] == nil })
        case .willSave(let number, let answer):
            // Each is asked at once, in order, and answers when it can.
            Task.immediate {
                answer.resume(returning: await Self.result { try await receiver.willSave(number) })
            }
        case .wasContinued(let number, let device): receiver.wasContinued(number, on: device)
        case .stream(let number, let descriptor): receiver.didReceiveStream(number, descriptor)
        case .willContinue(let number, let type, let device, let answer):
            Task.immediate {
                answer.resume(returning: await receiver.willContinue(number, type: type, from: device))
            }
        case .continueActivity(let handed, let answer):
            Task.immediate {
                answer.resume(
                    returning: await Self.result {
                        try await receiver.continueActivity(
                            handed.number, handed.activity, from: handed.device,
                            activationToken: handed.activationToken)
                    })
            }
        case .failed(let number, let type, let failure):
            receiver.didFailToContinue(number, type: type, failure)
        }
    }

    private static func result<Success>(
        _ body: () async throws -> Success
    ) async -> Result<Success, HandoffFailure> {
        do { return .success(try await body()) } catch {
            return .failure(HandoffError(error).failure)
        }
    }
}

extension HandoffFailure {
    /// What the broker has answered.
    init(ofBroker error: any Error) {
        if let failure = error as? HandoffFailure {
            self = failure
            return
        }
        let error = DBusError.converting(error)
        if let code = Code(error.name) {
            self.init(code, error.message)
        } else {
            self.init(.connectionUnavailable, "The broker of Handoff has not done it: \(error.message)")
        }
    }
}
