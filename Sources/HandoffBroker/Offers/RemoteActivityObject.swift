// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// An offer of a peer on the bus.
@MainLoop
final class RemoteActivityObject: RemoteActivityServer {
    let key: RemoteActivityKey
    let path: ObjectPath
    private var entry: RemoteOffers.Entry
    private let offers: Offers
    private let continuations: ContinuationsHere
    private var applications: Applications { continuations.applications }
    /// What readers believe of the handlers that do not run; nil while nobody has read that.
    private var believedToStart: [String]?

    init(_ entry: RemoteOffers.Entry, among offers: Offers, _ continuations: ContinuationsHere) throws {
        (self.entry, self.offers, self.continuations) = (entry, offers, continuations)
        key = RemoteActivityKey(entry.device, entry.offer.id)
        path = try HandoffNames.remote.appending(entry.device.description).appending(
            entry.offer.id.description)
    }

    /// Replaces the offer with `new`; subscribers are told what has changed.
    func update(_ new: RemoteOffers.Entry) {
        var names: [String] = []
        if new.offer.title != entry.offer.title { names.append("Title") }
        if new.handlers != entry.handlers { names.append("Handlers") }
        if new.offer.since != entry.offer.since { names.append("Since") }
        if new.offer.lastUsed != entry.offer.lastUsed { names.append("LastUsed") }
        if new.isContinuing != entry.isContinuing { names.append("State") }
        if new.isInvited != entry.isInvited { names.append("Invited") }
        if new.invitedAt != entry.invitedAt { names.append("InvitedAt") }
        if new.isParked != entry.isParked { names.append("Parked") }
        if new.parkedAt != entry.parkedAt { names.append("ParkedAt") }
        if new.isListed != entry.isListed { names.append("Listed") }
        if new.obstacle != entry.obstacle { names.append("Obstacle") }
        if !new.isContinuing, progress >= 0 {
            progress = -1
            names.append("Progress")
        }
        if !new.isContinuing, shownByApplication {
            shownByApplication = false
            names.append("ShownByApplication")
        }
        entry = new
        tell(names)
        applicationsChanged()
    }

    /// An application may have begun or ceased to run.
    func applicationsChanged() {
        guard let believedToStart else { return }
        let current = findHandlersToStart()
        guard current != believedToStart else { return }
        self.believedToStart = current
        tell(["HandlersToStart"])
    }

    /// Its continuation has come so far, from 0 to 1; -1 if that is not known.
    func setProgress(_ new: Double) {
        guard entry.isContinuing, new != progress else { return }
        progress = new
        tell(["Progress"])
    }

    /// The application that continues it shows that by itself.
    func setShownByApplication() {
        guard entry.isContinuing, !shownByApplication else { return }
        shownByApplication = true
        tell(["ShownByApplication"])
    }

    /// The peer's name or type may have changed.
    func deviceChanged() { tell(["DeviceName", "DeviceType"]) }

    private func tell(_ names: [String]) {
        // Nobody was told of it.
        guard !entry.isListed else { return }
        continuations.connection.objects.propertiesChanged(
            path, RemoteActivityBinding.description.name, names, tell: .subscribers)
    }

    // MARK: RemoteActivityServer

    func `continue`(options: [String: Value], _ call: MethodCall) async throws {
        guard let caller = call.caller.name else {
            throw DBusError.accessDenied("Only a local user can continue.")
        }
        let application = try options["ApplicationId"].map {
            try ApplicationID(ActivityState.string($0, "ApplicationId"))
        }
        let token =
            try options["ActivationToken"].map { try ActivityState.string($0, "ActivationToken") } ?? ""
        let isTraced = try options["Trace"].map { try ActivityState.boolean($0, "Trace") } ?? false
        let isRemembered =
            try options["Remember"].map { try ActivityState.boolean($0, "Remember") } ?? false
        let target = try await target(application)
        // What is refused is not remembered either.
        try running?.checkJoining(application: application)
        if isRemembered { try remember(application, call) }
        let (runner, begin) = try runner(for: caller, application, target, token)
        if isTraced { runner.tellTrace(to: caller) }
        if let begin { call.afterReply(begin) }
    }

    /// Continues the offer as one of several that `caller` has chosen, and hands `whenFinished` what becomes of it.
    /// - Throws: as `Continue` does; then `whenFinished` is not called.
    func continueAsOneOfSeveral(
        for caller: BusName, activationToken token: String,
        _ whenFinished: @escaping @MainLoop (ContinuingAll.State) -> Void
    ) async throws -> ContinuationRunner {
        let (runner, begin) = try runner(for: caller, nil, try await target(nil), token)
        runner.onFinished.append(whenFinished)
        begin?()
        return runner
    }

    /// What is to continue the offer: this application, or else the best one.
    private func target(_ application: ApplicationID?) async throws -> RemoteOffers.Target {
        func target() throws -> RemoteOffers.Target {
            try offers.target(for: key, application: application)
        }
        guard try target() == .browser(nil) else { return try target() }
        // Which one is the default is not known before somebody has asked.
        guard let browser = try await applications.defaults.knownBrowser() else {
            throw HandoffFailure.noBrowser
        }
        // The offer is hidden by now, and this says more than that it is.
        guard !applications.registry.isExcluded(browser) else { throw HandoffFailure.excluded(browser) }
        return try target()
    }

    /// From now on, `application` continues everything of this type that it can.
    private func remember(_ application: ApplicationID?, _ call: MethodCall) throws {
        guard let application else {
            throw HandoffFailure(
                .invalidArguments,
                "Remember is true without an ApplicationId: name the application to be remembered.")
        }
        let preferences = applications.preferences
        var chosen = preferences.applications
        guard chosen.updateValue(application, forKey: entry.offer.type) != application else { return }
        try preferences.setApplications(chosen)
        call.afterReply { [weak offers] in offers?.onChosen() }
    }

    /// The runner that continues the offer for `caller`, who has asked for `application` or none. If it is new, `begin` starts it,
    /// and ends the continuations that its application has to give up.
    private func runner(
        for caller: BusName, _ application: ApplicationID?, _ target: RemoteOffers.Target, _ token: String
    ) throws -> (ContinuationRunner, begin: (@MainLoop () -> Void)?) {
        // The caller has to be told the outcome.
        offers.onAsked(caller)
        if let running {
            try running.join(caller, application: application)
            return (running, nil)
        }
        var generator = UnpredictableNumbers()
        let id = ContinuationID(using: &generator)
        let getsPageAlone =
            target.application.map { applications.getsPageAlone($0, of: entry.offer) } ?? false
        let registration = registration(for: target, getsPageAlone: getsPageAlone)
        let ended =
            try registration.map {
                try continuations.began(
                    id, on: $0.connection,
                    supportsStreams: !getsPageAlone && entry.offer.supportsContinuationStreams)
            } ?? []
        let continuation = Continuation(
            id: id, device: key.device, offer: entry.offer,
            target: target.begun(isRunning: registration != nil),
            caller: caller.text, getsPageAlone: getsPageAlone)
        let runner = try ContinuationRunner(
            continuation, key, at: path, activationToken: token, offers.parked(key), continuations, offers)
        if let registration { try runner.use(registration) }
        continuations.add(runner)
        return (
            runner,
            { [weak continuations] in
                continuations?.perform(ended)
                runner.begin()
            }
        )
    }

    /// What the application that is to be handed the activity has registered, if it is running.
    private func registration(for target: RemoteOffers.Target, getsPageAlone: Bool) -> Registration? {
        guard let application = target.application else { return nil }
        return applications.registry.connection(
            for: application, continuing: getsPageAlone ? nil : entry.offer
        )
        .flatMap { applications.registration(of: $0) }
    }

    func cancel(_ call: MethodCall) throws {
        guard let running else { throw HandoffFailure.nothingToCancel(entry.offer) }
        let actions = try running.cancel()
        call.afterReply { running.perform(actions) }
    }

    /// What continues it now.
    private var running: ContinuationRunner? { continuations.running(key) }

    func dismiss(_ call: MethodCall) throws {
        try offers.dismiss(key, call)
    }

    /// Whether it has a document, which may have to be brought over.
    var hasDocument: Bool { entry.offer.documentType != nil }

    var activityType: String { entry.offer.type.description }
    var title: String { entry.offer.title }
    var applicationId: String { entry.offer.applicationID.description }
    var handlers: [String] { entry.handlers.map(\.id.description) }
    var handlersToStart: [String] {
        let current = findHandlersToStart()
        // Later readers may see what is new before it is told, and earlier ones are told.
        if believedToStart == nil { believedToStart = current }
        return current
    }

    private func findHandlersToStart() -> [String] {
        entry.handlers.compactMap {
            guard case .application(let id) = $0,
                applications.registry.connection(
                    for: id, continuing: applications.getsPageAlone(id, of: entry.offer) ? nil : entry.offer)
                    == nil
            else { return nil }
            return id.description
        }
    }
    var deviceId: String { key.device.description }
    var deviceName: String { offers.peers.name(of: key.device) }
    var deviceType: String { offers.peers.type(of: key.device) }
    var since: Int64 { entry.offer.since }
    var lastUsed: Int64 { entry.offer.lastUsed }
    var invited: Bool { entry.isInvited }
    var invitedAt: Int64 { entry.invitedAt }
    var parked: Bool { entry.isParked }
    var parkedAt: Int64 { entry.parkedAt }
    var listed: Bool { entry.isListed }
    var obstacle: String { entry.obstacle }
    var state: String { entry.isContinuing ? "continuing" : "available" }
    /// How far its document has come, if that is known.
    private(set) var progress: Double = -1
    /// Whether the application that continues it shows that by itself.
    private(set) var shownByApplication = false
}

extension RemoteOffers.Target {
    /// The application that is to be handed the activity; nil if none is.
    fileprivate var application: ApplicationID? {
        if case .application(let id) = self { id } else { nil }
    }

    /// The same as what a continuation begins with.
    fileprivate func begun(isRunning: Bool) -> Continuation.Target {
        switch self {
        case .application(let id): .application(id, isRunning: isRunning)
        case .browser(let id): .browser(id)
        case .documentApplication(let id): .documentApplication(id)
        }
    }
}
