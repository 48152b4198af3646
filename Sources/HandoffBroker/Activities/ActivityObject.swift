// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// An activity of this session on the bus: its properties, and the saving of its state.
@MainLoop
final class ActivityObject {
    let id: ActivityID
    let type: ActivityType
    let applicationID: ApplicationID
    /// Who has made it, and with whose rights its document is read.
    let caller: Caller
    /// The connection that it belongs to.
    let owner: BusName
    /// Whether its application runs in a sandbox. Such an application may name a file that it cannot read, and must not
    /// reach it by way of another device.
    var isSandboxed: Bool { caller.sandbox != nil }
    let path: ObjectPath
    /// Its properties.
    private(set) var state = ActivityState()

    /// Whether subscribers have yet to be told of the title.
    private var isTitleUntold = false

    private let activities: OwnActivities
    private var applications: Applications { activities.applications }
    private var now: Moment { activities.clock.moment }
    private var saving = Saving()
    private lazy var savingTimer = DeadlineTimer(by: activities.clock) { [weak self] in self?.advance() }
    /// The fetches that wait for the state to be saved, by continuation.
    private var waiting: [ContinuationID: [CheckedContinuation<Bool, Never>]] = [:]

    init(
        _ id: ActivityID, type: ActivityType, registration: Registration, caller: Caller, owner: BusName,
        among activities: OwnActivities, properties: [String: Value]
    ) throws {
        self.id = id
        self.type = type
        self.caller = caller
        self.owner = owner
        self.activities = activities
        applicationID = registration.applicationID
        path = try HandoffNames.activities.appending(id.description)
        let ignoring = { activities.sayIgnored($0, applicationID: registration.applicationID) }
        if try state.apply(properties, activities.applications.fileNameTypes, ignoring: ignoring) == true {
            _ = saving.setNeedsSave(true, at: now.instant)
        }
    }

    /// The team of its application as it is registered now.
    private var team: Team {
        applications.registration(of: owner.text)?.team ?? Team(applicationID)
    }

    /// Whether the user keeps its application out.
    var isExcluded: Bool { applications.isExcluded(applicationID, owner.text) }

    var details: SessionActivity.Details { state.details(team: team, isExcluded: isExcluded) }

    /// The application's object that is asked to save and told of continuations.
    var delegateProxy: ActivityDelegateProxy {
        let registered = applications.registration(of: owner.text).flatMap {
            try? ObjectPath($0.objectPath)
        }
        let path = state.delegate == .root ? registered ?? .root : state.delegate
        return ActivityDelegateProxy(RemoteObject(activities.connection, owner, path))
    }

    // MARK: Changing

    /// Takes over `properties`, all or none; what that causes follows the reply to `call`.
    func apply(_ properties: [String: Value], _ call: MethodCall?) throws {
        let (former, title) = (state.size, state.title)
        let needsSave = try state.apply(
            properties, applications.fileNameTypes,
            holding: { (size) throws(HandoffFailure) in
                try applications.change(from: former, to: size, of: owner.text)
            }, ignoring: { activities.sayIgnored($0, applicationID: applicationID) })
        hintAtStreams()
        if properties.count > (needsSave == nil ? 0 : 1) {
            try tellChanged(call, isUsed: true)
        } else if needsSave == true {
            try activities.use(id, after: call)
        }
        if title != state.title, current { MethodCall.after(call) { [weak self] in self?.tellTitle() } }
        guard let needsSave else { return }
        let actions = saving.setNeedsSave(needsSave, at: now.instant)
        MethodCall.after(call) { [weak self] in self?.perform(actions) }
    }

    /// Tells the application's author of a `UserInfo` that is better sent by other means.
    func hintAtStreams() {
        let size = state.userInfo.size
        if size > UserInfoRules.comfortableSize { activities.hintAtStreams(type, size) }
    }

    /// Merges `entries` into `UserInfo`.
    func merge(_ entries: [String: Value], _ call: MethodCall) throws {
        let merged = state.userInfo.properties.merging(entries) { _, new in new }
        try apply(["UserInfo": .properties(merged)], call)
    }

    /// The application has registered anew, or the user has excluded others. What is offered and what is fetched have to
    /// name the same team, and nothing of an excluded application is offered.
    func registrationChanged() {
        let details = details
        guard let known = activities[id]?.details,
            known.team != details.team || known.isExcluded != details.isExcluded
        else { return }
        try? activities.update(id, details, after: nil)
    }

    /// Other names of documents may stand for other types than before. Peers are told what is right.
    ///
    /// This concerns the activity that is current. All others catch up when they become that: looking at the documents
    /// of all of them at once could take long.
    func fileNameTypesChanged() {
        guard state.changed(applications.fileNameTypes) else { return }
        do {
            try tellChanged(nil)
        } catch {
            brokerLog.debug("activity \(id): \(DBusError.converting(error).message)")
        }
    }

    /// Tells whoever shows what is current here, once for all that changes it within a turn of the loop.
    private func tellTitle() {
        guard !isTitleUntold else { return }
        isTitleUntold = true
        MainLoop.start { [weak self] in
            guard let self else { return }
            isTitleUntold = false
            activities.connection.objects.propertiesChanged(
                path, ActivityBinding.description.name, ["Title"], tell: .subscribers)
        }
    }

    /// What peers see may have changed, and it is its user that has changed it, if `isUsed`.
    private func tellChanged(_ call: MethodCall?, isUsed: Bool = false) throws {
        try activities.update(id, details, isUsed: isUsed, after: call)
    }

    // MARK: Being current

    func currentChanged(_ isCurrent: Bool) {
        let actions = saving.setCurrent(isCurrent, at: now.instant)
        // Of what is not current nobody was told.
        if isCurrent { tellTitle() }
        // This comes after the offer, which also goes to the bridge by way of the main loop.
        MainLoop.start { [self] in
            activities.connection.objects.propertiesChanged(
                path, ActivityBinding.description.name, ["Current"], tell: .subscribersAnd(owner))
            perform(actions)
        }
    }

    // MARK: Saving

    /// Waits until the state is as new as it can be.
    /// - Returns: false if the activity has ended meanwhile.
    func saved(for continuation: ContinuationID) async -> Bool {
        await withCheckedContinuation {
            waiting[continuation, default: []].append($0)
            perform(saving.request(continuation, at: now.instant))
        }
    }

    /// Waits until the state is as new as it can be, but not longer than `limit`.
    /// - Returns: false if that was too short, or the activity has ended meanwhile.
    @discardableResult
    func saved(within limit: Duration) async -> Bool {
        var generator = UnpredictableNumbers()
        let id = ContinuationID(using: &generator)
        let timer = LoopSource.timer(after: limit) { [weak self] in self?.forget(id) }
        defer { timer.cancel() }
        return await saved(for: id)
    }

    /// A continuation has ended: a fetch of it that still waits is refused.
    func forget(_ continuation: ContinuationID) {
        saving.forget(continuation)
        resume([continuation], false)
    }

    /// The activity is gone: whoever is waiting for it is told.
    func invalidate() {
        perform(saving.invalidate())
        savingTimer.set(nil)
    }

    private func advance() { perform(saving.advance(to: now.instant)) }

    private func perform(_ actions: [Saving.Action]) {
        for action in actions {
            switch action {
            case .needsSaveChanged: tellNeedsSave()
            case .askWillSave(let attempt): askWillSave(attempt)
            case .saved(let continuations): resume(continuations, true)
            case .gaveUp(let reason, let continuations):
                if reason != .invalidated {
                    brokerLog.warning(
                        "Activity \(id) of \(applicationID) was not saved (\(reason)); its last state counts."
                    )
                }
                resume(continuations, reason != .invalidated)
            }
        }
        savingTimer.set(saving.nextDeadline?.microseconds)
    }

    /// This comes after a `WillSave` that is asked for at the same time, since a continuation waits for that.
    private func tellNeedsSave() {
        MainLoop.start { [connection = activities.connection, path, owner] in
            connection.objects.propertiesChanged(
                path, ActivityBinding.description.name, ["NeedsSave"], tell: .only(owner))
        }
    }

    private func resume(_ continuations: [ContinuationID], _ isThere: Bool) {
        for id in continuations {
            for waiter in waiting.removeValue(forKey: id) ?? [] { waiter.resume(returning: isThere) }
        }
    }

    private func askWillSave(_ attempt: UInt64) {
        MainLoop.start { [weak self] in
            guard let self else { return }
            do {
                let properties = try await delegateProxy.willSave(
                    activity: path, timeout: Deadline.willSave * 2)
                guard saving.isAwaiting(attempt: attempt), activities.object(of: id) === self else { return }
                let saved = try SavedState(properties)
                try apply(saved.properties, nil)
                perform(saving.answered(attempt: attempt, isPassing: saved.isPassing, at: now.instant))
            } catch let error as DBusError where error.saysThatMemberIsMissing {
                perform(saving.answered(attempt: attempt, at: now.instant))
            } catch {
                // What an application that has left still wants, such as the end of its activity, comes first.
                guard activities.connection.directory?.knownLine(of: owner)?.hasLeft != true else { return }
                let message = DBusError.converting(error).message
                perform(saving.failed(attempt: attempt, message: message, at: now.instant))
            }
        }
    }

    // MARK: Continuations

    /// What a continuation gets. `files` is what is known of the files that the activity names; nil for nothing.
    func payload(naming files: NamedFiles?) -> [String: Value] {
        var payload = payload()
        files?.describe(&payload, room: ActivityState.maximumSize - 64 - state.size)
        return payload
    }

    private func payload() -> [String: Value] {
        var payload = state.shared
        payload["ActivityType"] = .string(type.description)
        payload["ApplicationId"] = .string(applicationID.description)
        payload["Team"] = .string(team.description)
        payload["Revision"] = .uint64(activities[id]?.revision ?? 0)
        if let type = state.documentType { payload["DocumentType"] = .string(type) }
        return payload
    }

    /// Tells the delegate that `device` has continued the activity.
    func wasContinued(by device: DeviceID) {
        let about: [String: Value] = [
            "DeviceId": .string(device.description), "DeviceName": .string(activities.peers.name(of: device)),
        ]
        MainLoop.start { [delegateProxy, path] in
            do {
                try await delegateProxy.wasContinued(activity: path, device: about)
            } catch {
                let error = DBusError.converting(error)
                guard !error.saysThatMemberIsMissing else { return }
                brokerLog.debug("WasContinued of \(path): \(PeerText.message(error.message)) (\(error.name))")
            }
        }
    }
}

extension ActivityObject: ActivityServer {
    func becomeCurrent(_ call: MethodCall) throws {
        fileNameTypesChanged()
        try activities.becomeCurrent(id, call)
    }

    func resignCurrent(_ call: MethodCall) throws {
        try activities.resignCurrent(id, call)
    }

    func leaveCurrent(_ call: MethodCall) throws {
        try activities.leaveCurrent(id, call)
    }

    func becomeOpen(_ call: MethodCall) throws {
        fileNameTypesChanged()
        try activities.becomeOpen(id, call)
    }

    func invalidate(_ call: MethodCall) throws {
        try activities.invalidate(id, call)
    }

    func update(properties: [String: Value], _ call: MethodCall) throws { try apply(properties, call) }

    /// Setting one property is an update of one property.
    func set(_ property: String, to value: Value, _ call: MethodCall) throws {
        try apply([property: value], call)
    }

    func addUserInfoEntries(entries: [String: Value], _ call: MethodCall) throws {
        try merge(entries, call)
    }

    var activityType: String { type.description }
    var applicationId: String { applicationID.description }
    var current: Bool { activities.current == id }
    var title: String { state.title }
    var userInfo: [String: Value] { state.userInfo.properties }
    var requiredUserInfoKeys: [String] { state.requiredUserInfoKeys }
    var webpageURL: String { state.webpageURL }
    var documentURL: String { state.documentURL }
    var referrerURL: String { state.referrerURL }
    var targetContentIdentifier: String { state.targetContentIdentifier }
    var persistentIdentifier: String { state.persistentIdentifier }
    var keywords: [String] { state.keywords }
    var expirationDate: Int64 { state.expirationDate }
    var eligibleForHandoff: Bool { state.eligibleForHandoff }
    var eligibleForSearch: Bool { state.eligibleForSearch }
    var supportsContinuationStreams: Bool { state.supportsContinuationStreams }
    var needsSave: Bool { saving.needsSave }
    var delegate: ObjectPath { state.delegate }
}
