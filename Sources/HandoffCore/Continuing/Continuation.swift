// SPDX-License-Identifier: LGPL-2.1-or-later

/// One act of continuing a peer's activity here, from the user's choice until the origin may forget it.
///
/// Preparing the application and fetching the activity go on at the same time. Whatever happens, there is
/// exactly one `finished`; an application that was asked whether it will continue gets exactly one of
/// `deliver` and `tellApplicationFailed` unless it goes away (a `deliver` that is answered with
/// `documentWithheld` does not count); and the last action of all is `release`. An event that comes too late,
/// or twice, does nothing. `advance(to:)` is to be called once `nextDeadline` has come.
package struct Continuation: Sendable {
    enum State {
        /// Nobody has been asked for anything yet.
        case new
        /// The application is made ready while the activity is on its way.
        case preparing(Application)
        /// `ContinueActivity` was called; its answer is the outcome.
        case delivering(until: Instant)
        /// A default application is asked to open the page or the document; its answer is the outcome.
        case opening(until: Instant)
        /// It was continued, and the outcome has been told; the origin has not forgotten it yet.
        case continued(Confirmation)
        /// It failed; nothing happens any more.
        case failed
    }

    var state = State.new
    var retrieval: Retrieval
    private var isLinked = true
    var isLetGo: Bool

    /// Its identifier.
    package let id: ContinuationID
    /// The peer whose activity it is.
    package let device: DeviceID
    /// What the user chose, as it was then.
    package let offer: Offer
    /// What continues it.
    package internal(set) var target: Target
    /// Whether the application gets nothing of the activity but its web page, which its site has given it.
    package internal(set) var getsPageAlone: Bool
    /// Those who are to be told the outcome.
    package private(set) var callers: [String]
    /// Whether the application shows that something is coming, so that nobody else has to.
    package private(set) var applicationShowsProgress = false

    /// A continuation that `caller` wants, for which nothing has been done yet. `getsPageAlone`: whether an application
    /// that is handed the activity gets only its web page.
    package init(
        id: ContinuationID, device: DeviceID, offer: Offer, target: Target, caller: String,
        getsPageAlone: Bool = false
    ) {
        self.id = id
        self.device = device
        self.offer = offer
        self.target = target
        self.getsPageAlone = getsPageAlone && target.isHandedActivity
        callers = [caller]
        retrieval = Retrieval(of: offer, wantsDocument: target.wantsDocument && !getsPageAlone)
        isLetGo = !target.isHandedActivity || getsPageAlone
    }

    /// What the last successful `Fetch` brought; nil before.
    package var fetched: Fetched? { retrieval.fetched }

    /// Begins with what takes longest. Later calls do nothing.
    package mutating func begin(at now: Instant) -> [Action] {
        guard case .new = state else { return [] }
        switch target {
        case .application(let application, isRunning: false):
            state = .preparing(.starting(until: now.advanced(by: Deadline.registration)))
            return retrieval.begin(at: now) + [.startApplication(application)]
        case .application(_, isRunning: true):
            state = .preparing(.asked(until: now.advanced(by: Deadline.willContinue)))
            return retrieval.begin(at: now) + [.askWillContinue]
        case .browser, .documentApplication:
            state = .preparing(.notNeeded)
            return retrieval.begin(at: now)
        }
    }

    /// Somebody else wants the same offer continued and is told the outcome too, but only once however often
    /// they join. Fails with `invalidArguments` if they named another application, and with `unknownObject`
    /// if the outcome has been told.
    package mutating func join(_ caller: String, application: ApplicationID? = nil) throws(HandoffFailure) {
        try checkJoining(application: application)
        if !callers.contains(caller) { callers.append(caller) }
    }

    /// Fails as joining does, and changes nothing.
    package func checkJoining(application: ApplicationID? = nil) throws(HandoffFailure) {
        guard isRunning else { throw .unknownContinuation(id) }
        if let application, application != target.application {
            throw .busy(offer, with: target, not: application)
        }
    }

    /// A caller left the bus and is told nothing. The continuation goes on.
    package mutating func callerVanished(_ caller: String) {
        callers.removeAll { $0 == caller }
    }

    // MARK: The application

    /// The application that was started has registered.
    package mutating func applicationReady(at now: Instant) -> [Action] {
        guard case .preparing(.starting) = state else { return [] }
        state = .preparing(.asked(until: now.advanced(by: Deadline.willContinue)))
        return [.askWillContinue]
    }

    /// The application could not be started.
    package mutating func startFailed(_ failure: HandoffFailure) -> [Action] {
        guard case .preparing(.starting) = state else { return [] }
        return fail(failure)
    }

    /// The application answered `WillContinueActivity`; an error counts as false.
    package mutating func willContinueAnswered(_ showsProgress: Bool, at now: Instant) -> [Action] {
        guard case .preparing(.asked) = state else { return [] }
        applicationShowsProgress = showsProgress
        state = .preparing(.ready)
        return proceed(at: now)
    }

    /// The application answered `ContinueActivity`.
    package mutating func deliverAnswered(_ answer: Answer, at now: Instant) -> [Action] {
        guard case .delivering = state else { return [] }
        switch answer {
        case .handled:
            return succeed(at: now)
        case .declined: return openDocument(at: now, orFail: .declined(offer, by: target))
        case .missing(let refusal):
            return openDocument(at: now, orFail: .missing(refusal, offer, in: target))
        case .failed(let refusal):
            return fail(.refused(refusal, offer, by: target))
        }
    }

    /// The application's sandbox keeps the document from it, so that the activity was not handed over. The application is
    /// told that nothing comes, and the document is opened instead.
    package mutating func documentWithheld(at now: Instant) -> [Action] {
        guard case .delivering = state else { return [] }
        let failure = HandoffFailure.documentWithheld(offer, from: target)
        return [.tellApplicationFailed(failure)] + openDocument(byItself: false, at: now, orFail: failure)
    }

    /// The document is all that there is to continue with.
    private mutating func openDocument(
        byItself: Bool = true, at now: Instant, orFail failure: HandoffFailure
    ) -> [Action] {
        guard let fetched, fetched.document != .none, !getsPageAlone else { return fail(failure) }
        isLetGo = true
        state = .opening(until: now.advanced(by: Deadline.opening))
        return [.openDocument(by: byItself ? target.application : nil)]
    }

    /// The connection that was asked whether it will continue is no longer registered. Unless it has left the bus, it
    /// is told that nothing comes.
    package mutating func applicationVanished(isOnBus: Bool = false) -> [Action] {
        switch state {
        case .preparing(.asked), .preparing(.ready), .delivering:
            return fail(.vanished(target, offer), tellsApplication: isOnBus)
        case .new, .preparing, .opening, .continued, .failed:
            return letGo()
        }
    }

    /// The application no longer holds the continuation: it released it, left the bus, or had too many.
    package mutating func letGo() -> [Action] {
        isLetGo = true
        return confirm { $0.letGo() }
    }

    /// The page or the document was opened.
    package mutating func opened(at now: Instant) -> [Action] {
        guard case .opening = state else { return [] }
        return succeed(at: now)
    }

    /// The page or the document could not be opened.
    package mutating func openFailed(_ failure: HandoffFailure) -> [Action] {
        guard case .opening = state else { return [] }
        return fail(failure)
    }

    // MARK: The activity

    /// `Fetch` was answered. An activity that does not agree with the offer that was chosen is not delivered.
    /// A page that may not go to an application because of its site goes to the browser; an application that waits for it
    /// is told that it does not come.
    package mutating func fetched(_ fetched: Fetched, at now: Instant) -> [Action] {
        let told = retrieval.isAwaiting(fetched.offer) ? turnToBrowser(unlessAllowedBy: fetched) : []
        return told + retrieve(at: now) { $0.fetched(fetched, at: now) }
    }

    /// `Fetch` failed. If there was no link, it is called again as soon as there is one. If an older
    /// state is there already, that is delivered. Otherwise the failure is the outcome.
    package mutating func fetchFailed(_ failure: HandoffFailure, at now: Instant) -> [Action] {
        retrieve(at: now) { [isLinked] in $0.fetchFailed(failure, isLinked: isLinked, at: now) }
    }

    /// Bytes of the document came: by now, there are `count` of `size`, if that is known.
    package mutating func documentProgressed(to count: UInt64, of size: UInt64?, at now: Instant) {
        retrieval.documentProgressed(to: count, of: size, at: now)
    }

    /// The document is a file of this machine now.
    package mutating func documentArrived(at now: Instant) -> [Action] {
        retrieve(at: now) { $0.documentArrived() }
    }

    /// The document did not come. If it was expected in a shared folder, it is brought over instead.
    package mutating func documentFailed(_ failure: HandoffFailure, at now: Instant) -> [Action] {
        retrieve(at: now) { $0.documentFailed(failure, at: now) }
    }

    /// The origin's activity has changed; the latest state is fetched once more before it is delivered.
    package mutating func offerRevised(to revision: UInt64) {
        retrieval.offerRevised(to: revision)
    }

    /// The offer has ended. What has been fetched by then is delivered all the same.
    package mutating func offerWithdrawn() -> [Action] {
        guard case .preparing = state, fetched == nil else { return [] }
        return fail(.offerWithdrawn)
    }

    /// Handoff was switched off, or ends. A continuation that has been delivered by then continues.
    package mutating func stopped(_ failure: HandoffFailure) -> [Action] {
        guard case .preparing = state else { return [] }
        return fail(failure)
    }

    // MARK: The link

    /// The link to the peer is gone.
    package mutating func linkLost() {
        isLinked = false
    }

    /// There is a link to the peer again, or another one.
    package mutating func linkRestored(at now: Instant) -> [Action] {
        isLinked = true
        return retrieve(at: now) { $0.linkRestored() } + confirm { $0.linkRestored() }
    }

    /// The peer replied to `Continued`, in whatever way.
    package mutating func continuedAcknowledged() -> [Action] {
        confirm { $0.acknowledged() }
    }

    /// `Continued` did not reach the peer. It is repeated, for a minute at most.
    package mutating func continuedFailed(at now: Instant) {
        guard case .continued(var confirmation) = state else { return }
        confirmation.failed(isLinked: isLinked, at: now)
        state = .continued(confirmation)
    }

    // MARK: Time

    /// When `advance(to:)` has something to do; nil if time changes nothing.
    package var nextDeadline: Instant? {
        switch state {
        case .preparing(let application):
            [application.deadline, retrieval.nextDeadline].compactMap { $0 }.min()
        case .delivering(let until), .opening(let until): until
        case .continued(let confirmation): confirmation.nextDeadline
        case .new, .failed: nil
        }
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        var actions: [Action] = []
        while let deadline = nextDeadline, deadline <= now {
            actions += expire(deadline, at: now)
        }
        return actions
    }

    /// Does what is due because `deadline`, which is the next one, has passed.
    private mutating func expire(_ deadline: Instant, at now: Instant) -> [Action] {
        switch state {
        case .preparing(let application) where application.deadline == deadline:
            guard case .asked = application else { return fail(.notRegisteredInTime(target)) }
            return willContinueAnswered(false, at: now)
        case .preparing: return retrieve(at: now) { $0.expire(at: now) }
        case .delivering, .opening: return fail(.noAnswer(target, offer))
        case .continued: return confirm { $0.expire(at: now) }
        case .new, .failed: return []
        }
    }

    // MARK: Steps

    /// Lets the retrieval take an event while there is any use for one.
    private mutating func retrieve(
        at now: Instant, _ event: (inout Retrieval) -> Retrieval.Step
    ) -> [Action] {
        guard case .preparing = state else { return [] }
        switch event(&retrieval) {
        case .go(let actions): return actions + proceed(at: now)
        case .failed(let failure): return fail(failure)
        }
    }

    /// Lets the end of a continuation that succeeded take an event; any other does nothing.
    private mutating func confirm(_ event: (inout Confirmation) -> [Action]) -> [Action] {
        guard case .continued(var confirmation) = state else { return [] }
        defer { state = .continued(confirmation) }
        return event(&confirmation)
    }

    /// Delivers once both application and activity are there, or fetches once more if that has changed.
    mutating func proceed(at now: Instant) -> [Action] {
        guard retrieval.isComplete, case .preparing(let application) = state, application.isReady else {
            return []
        }
        let refreshing = retrieval.refresh(at: now)
        guard refreshing.isEmpty else { return refreshing }
        switch target {
        case .application: break
        case .browser:
            state = .opening(until: now.advanced(by: Deadline.opening))
            return [.openWebPage]
        case .documentApplication:
            return openDocument(at: now, orFail: .documentMissing(offer))
        }
        state = .delivering(until: now.advanced(by: Deadline.continueActivity))
        return [.deliver]
    }

    private mutating func succeed(at now: Instant) -> [Action] {
        let isHeld = !isLetGo && fetched?.offer.supportsContinuationStreams == true
        state = .continued(Confirmation(isHeld: isHeld, at: now))
        return [finish(.continued), .confirmContinued]
    }

    /// Ends without success. An application that waits for the activity is told; one that had it is not.
    mutating func fail(_ failure: HandoffFailure, tellsApplication: Bool = true) -> [Action] {
        let told: [Action] = isAwaited && tellsApplication ? [.tellApplicationFailed(failure)] : []
        state = .failed
        return told + [finish(.failed(failure)), .release]
    }

    private mutating func finish(_ outcome: Outcome) -> Action {
        defer { callers = [] }
        return .finished(outcome, callers: callers)
    }
}
