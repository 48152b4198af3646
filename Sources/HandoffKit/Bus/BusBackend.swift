// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
package import MainLoop
internal import Platform

/// What an application is told of by the broker of the session, and tells it.
///
/// Calls take effect in the order in which they are made. None of them waits for anything: what becomes of them is told
/// to the ``application``, in the order in which it happens. The application is registered, and its activities are created,
/// anew with each broker that comes, so that a number stands for an activity as long as the application wants it.
///
/// The kit is on the main actor, what it stands on is on the main loop, and these may be two threads. What is called within
/// one turn goes there together, in order, and what happens there comes back in order. So that what comes back is not
/// taken for newer than what is on its way there, turns are counted.
@MainActor
package final class BusBackend {
    /// Who is told what happens.
    weak var application: HandoffApplication?

    /// Something that was called and has to be done on the main loop.
    private typealias Command = @MainLoop @Sendable (BusListener) -> Void

    private let address: Bus.Address
    private let clock: LoopClock
    private let listener: BusListener
    private var commands: [Command] = []
    private var isPassing = false
    /// How many turns have been passed.
    private var turn: UInt64 = 0
    /// In which turn each property was set last.
    private var latest: [ActivityKey: [String: UInt64]] = [:]

    /// The session bus of the environment, which is connected to by ``start(_:)``.
    package convenience init() { self.init(.session) }

    /// The bus at `address`, and timers by `clock`.
    package init(_ address: Bus.Address, clock: LoopClock = .machine) {
        let events = BusEventQueue()
        (self.address, self.clock) = (address, clock)
        listener = BusListener(address, events)
        events.taker = self
    }

    deinit {
        let listener = listener
        MainLoop.start { listener.end() }
    }

    // MARK: What the kit calls

    /// Registers the application from now on. Whatever was called before counts from then on.
    func start(_ declaration: ApplicationDeclaration) {
        let declaration = ClientDeclaration(
            applicationID: declaration.id, activityTypes: declaration.activityTypes, team: declaration.team,
            documentTypes: declaration.documentTypes, domains: declaration.domains)
        // Tests of applications have no loop of GLib's.
        if case .memory = address {} else { MainActorSource.attach() }
        pass { $0.client.start(declaration) }
    }

    /// Takes the registration back, and with it all activities.
    func stop() {
        latest = [:]
        pass { $0.client.stop() }
    }

    /// Creates an activity that is known by `number`; an empty type is the first that was declared, or what the document
    /// types give. `properties` are all that are set, under the names of `org.example.Handoff.Activity`.
    func create(_ number: ActivityKey, type: String, properties: [String: Value]) {
        pass { $0.client.create(number, type: type, properties: properties) }
    }

    /// Sets several properties, all or none.
    func update(_ number: ActivityKey, _ properties: [String: Value]) {
        for name in properties.keys { latest[number, default: [:]][name] = turn + 1 }
        pass { $0.client.update(number, properties) }
    }

    /// Makes the activity the current one.
    func becomeCurrent(_ number: ActivityKey) {
        pass { $0.client.becomeCurrent(number) }
    }

    /// It is no longer current.
    func resignCurrent(_ number: ActivityKey) {
        pass { $0.client.resignCurrent(number) }
    }

    /// It is no longer current, and stays open.
    func leaveCurrent(_ number: ActivityKey) {
        pass { $0.client.leaveCurrent(number) }
    }

    /// It is open, without becoming the current one.
    func becomeOpen(_ number: ActivityKey) {
        pass { $0.client.becomeOpen(number) }
    }

    /// Ends the activity; the number is never used again.
    func invalidate(_ number: ActivityKey) {
        latest[number] = nil
        pass { $0.client.invalidate(number) }
    }

    /// Calls `body` after `time`.
    package func timer(after time: Duration, _ body: @escaping @MainActor () -> Void) -> BackendTimer {
        let (timer, source) = (BackendTimer(body), LoopTimer())
        MainLoop.start { [clock] in source.set(after: time, by: clock) { timer.fire() } }
        timer.whenOver { MainLoop.start { source.cancel() } }
        return timer
    }

    /// Opens a stream of a continuation.
    /// - Returns: a descriptor that the caller has to close.
    func openStream(_ number: ContinuationKey) async throws(HandoffFailure) -> CInt {
        // What was called before comes first.
        passAll()
        let (listener, opening) = (listener, Handover<CInt, HandoffFailure>())
        MainLoop.start { opening.resume(with: await listener.openStream(number)) }
        return try await opening.take()
    }

    /// Ends a continuation: no more streams are needed.
    func release(_ number: ContinuationKey) {
        pass { $0.client.release(number) }
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

    /// Tells the application of `event`.
    func happened(_ event: BusEvent) {
        guard let application else { return event.refuse() }
        switch event {
        case .standing(let standing): application.standingChanged(standing)
        case .current(let number, let isCurrent):
            if let activity = application.activity(number), activity.isCurrent != isCurrent {
                activity.isCurrent = isCurrent
            }
        case .created(let number, let type): application.activity(number)?.created(type: type)
        case .refused(let number, let failure, let restored, let turn):
            let newer = latest[number]?.filter { $0.value > turn } ?? [:]
            application.activity(number)?.refused(
                HandoffError(failure), restored: restored.filter { newer[$0.key] == nil })
        case .willSave(let number, let answer):
            // Each is asked at once, in order, and answers when it can.
            Task.immediate {
                answer.resume(
                    returning: await Self.result { try await application.activity(number)?.save() ?? [:] })
            }
        case .wasContinued(let number, let device): application.activity(number)?.wasContinued(on: device)
        case .stream(let number, let descriptor):
            guard let activity = application.activity(number) else { return event.refuse() }
            activity.didReceiveStream(descriptor)
        case .willContinue(let type, let device, let answer):
            answer.resume(returning: application.willContinue(type, from: device))
        case .continueActivity(let handed, let answer):
            Task.immediate {
                answer.resume(
                    returning: await Self.result {
                        try await application.continueActivity(
                            handed.number, handed.activity, from: handed.device,
                            activationToken: handed.activationToken)
                    })
            }
        case .failed(let type, let failure): application.didFail(type, HandoffError(failure))
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
