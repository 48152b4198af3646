// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What is continued by one choice of several activities.
@MainLoop
final class ContinuingAtOnce {
    let offers: Offers
    let peers: Peers
    let listings: Listings
    private let clock: LoopClock
    private var objects: [ObjectPath: ContinueAllObject] = [:]

    /// How many such choices there may be, and of one caller.
    private static let maximum = 64
    private static let maximumOfCaller = 4

    /// Nothing is continued.
    init(_ peers: Peers, _ listings: Listings, _ clock: LoopClock) {
        (offers, self.peers, self.listings, self.clock) = (peers.offers, peers, listings, clock)
    }

    /// Continues what these objects stand for, once `call` of `caller` has been answered.
    /// - Returns: the object that counts.
    func begin(
        _ paths: [ObjectPath], _ options: [String: Value], for caller: BusName, _ call: MethodCall
    ) throws -> ObjectPath {
        let token =
            try options["ActivationToken"].map { try ActivityState.string($0, "ActivationToken") } ?? ""
        try Self.check(paths)
        try makeRoom(for: caller)
        // What another choice still has is not handed over twice.
        let taken = paths.filter { path in objects.values.contains { $0.isUnderWay(path) } }
        var generator = UnpredictableNumbers()
        let path = try HandoffNames.continuing.appending(ContinuationID(using: &generator).description)
        let object = ContinueAllObject(self, path, paths, except: taken, caller, token, clock)
        objects[path] = object
        connection.objects.export(path, [ContinueAllBinding(object)])
        call.afterReply { object.begin() }
        return path
    }

    /// What is over makes room for what begins, if there is too much.
    private func makeRoom(for caller: BusName) throws(HandoffFailure) {
        for (objects, maximum) in [
            (objects.values.filter { $0.caller == caller }, Self.maximumOfCaller),
            (Array(objects.values), Self.maximum),
        ] where objects.count >= maximum {
            guard let over = objects.first(where: \.isOver) else {
                throw HandoffFailure.tooMany(
                    "choices of several activities that are being continued", limit: maximum,
                    advice: "Wait until one of them is over.")
            }
            remove(over.path)
        }
    }

    /// A connection has left the bus, and does not ask any more.
    func vanished(_ caller: BusName) {
        for object in objects.values where object.caller == caller && object.isOver { remove(object.path) }
    }

    private static func check(_ paths: [ObjectPath]) throws(HandoffFailure) {
        guard !paths.isEmpty else {
            throw HandoffFailure(
                .invalidArguments, "No activity is given. Give those that are to be continued.")
        }
        guard paths.count <= Quota.open else {
            throw HandoffFailure.tooMany(
                "activities to be continued at once (\(paths.count))", limit: Quota.open,
                advice: "Continue the others after these.")
        }
        for (index, path) in paths.enumerated() {
            let shown = PeerText.message(path.text)
            guard RemoteActivityKey(path) != nil else {
                throw HandoffFailure(
                    .invalidArguments,
                    "\(shown) is not an activity of another device. Give objects \(HandoffNames.remote)/DEVICE/ID."
                )
            }
            guard !paths[..<index].contains(path) else {
                throw HandoffFailure(.invalidArguments, "\(shown) is given twice. Give each activity once.")
            }
        }
    }

    var connection: Connection { offers.continuations.connection }

    /// Nobody needs to know any more what became of this.
    func remove(_ path: ObjectPath) {
        objects[path] = nil
        connection.objects.unexport(path)
    }

    /// The broker has ended.
    func end() { objects = [:] }
}

/// `org.example.Handoff.ContinueAll`: several activities that are continued by one choice.
@MainLoop
final class ContinueAllObject: ContinueAllServer {
    /// What is known of one of them.
    @MainLoop
    private struct Activity {
        let path: ObjectPath
        var deviceName = ""
        var title = ""
        var type = ""
        var origin = ""
        /// What continues it, as long as that goes on.
        var runner: ContinuationRunner? {
            didSet { application = runner?.applicationID ?? application }
        }
        /// The application that continues it, or was to.
        private(set) var application: ApplicationID?

        init(_ path: ObjectPath, _ object: RemoteActivityObject?) {
            self.path = path
            guard let object else { return }
            (deviceName, title, type) = (object.deviceName, object.title, object.activityType)
            origin = object.applicationId
        }

        /// Whether this is what was chosen. What was gone then can be anything.
        func isOf(_ object: RemoteActivityObject) -> Bool {
            type.isEmpty || type == object.activityType && origin == object.applicationId
        }
    }

    let caller: BusName
    private let owner: ContinuingAtOnce
    let path: ObjectPath
    private let clock: LoopClock
    private var activities: [Activity]
    private var machine: ContinuingAll
    /// For the last of them, which ends up in front.
    private let activationToken: String
    private lazy var timer = DeadlineTimer(by: clock) { [weak self] in
        if let self { owner.remove(path) }
    }

    /// How long it is there after all is over.
    private static let remembrance: Duration = .seconds(60)

    init(
        _ owner: ContinuingAtOnce, _ path: ObjectPath, _ paths: [ObjectPath], except taken: [ObjectPath],
        _ caller: BusName, _ activationToken: String, _ clock: LoopClock
    ) {
        (self.owner, self.path, self.caller, self.clock) = (owner, path, caller, clock)
        self.activationToken = activationToken
        let objects = paths.map { owner.offers.object(at: $0) }
        activities = zip(paths, objects).map { Activity($0, $1) }
        let documents = objects.enumerated().compactMap { index, object in
            object.flatMap { $0.hasDocument ? (index, $0.key.device) : nil }
        }
        machine = ContinuingAll(count: paths.count, documents: Dictionary(uniqueKeysWithValues: documents))
        for (index, path) in paths.enumerated() where taken.contains(path) {
            let failure = HandoffFailure(
                .cancelled, "It is being continued with others already. Wait for that.")
            machine.ended(index, .failed(failure))
        }
    }

    var isOver: Bool { machine.isOver }

    /// Whether this is one of the activities, and more is to come of it.
    func isUnderWay(_ activity: ObjectPath) -> Bool {
        zip(activities, machine.states).contains { $0.path == activity && !$1.isOver }
    }

    /// Continues those whose turn it is.
    func begin() {
        guard !isOver else { return finish() }
        for index in machine.begin() {
            let token = index == activities.count - 1 ? activationToken : ""
            MainLoop.start { [self] in
                do {
                    try await self.continue(index, token)
                } catch {
                    ended(index, .failed(HandoffFailure(routed: error)))
                }
            }
        }
        tell()
    }

    private func `continue`(_ index: Int, _ token: String) async throws {
        let object = try await object(at: activities[index].path)
        // What goes by the same id meanwhile may be something else, which nobody has chosen.
        guard activities[index].isOf(object) else { throw HandoffFailure.offerWithdrawn }
        guard !machine.isCancelled else { throw HandoffFailure.cancelledBefore }
        let runner = try await object.continueAsOneOfSeveral(for: caller, activationToken: token) {
            [weak self] in self?.ended(index, $0)
        }
        activities[index].runner = runner
        // Meanwhile the browser may have been looked up.
        if machine.isCancelled, let actions = try? runner.cancel() { runner.perform(actions) }
        if machine.states[index].isOver { activities[index].runner = nil }
    }

    /// The activity at `path`. What was listed for the user is shown for a while only, and may have to be listed again.
    private func object(at path: ObjectPath) async throws -> RemoteActivityObject {
        if let object = owner.offers.object(at: path) { return object }
        if let key = RemoteActivityKey(path), owner.peers.contains(key.device) {
            _ = try await owner.listings.list(key.device)
        }
        guard let object = owner.offers.object(at: path) else { throw HandoffFailure.unknownOffer }
        return object
    }

    private func ended(_ index: Int, _ state: ContinuingAll.State) {
        machine.ended(index, state)
        activities[index].runner = nil
        begin()
    }

    /// All are over, which is told, and known for a while.
    private func finish() {
        timer.set(clock.instant.advanced(by: Self.remembrance).microseconds)
        brokerLog.message(
            "\(machine.done) of \(activities.count) activities, chosen together, were continued here.")
        tell()
    }

    private func tell() {
        owner.connection.objects.propertiesChanged(
            path, ContinueAllBinding.description.name, ["Done", "Failed", "Results"],
            tell: .subscribersAnd(caller))
    }

    // MARK: ContinueAllServer

    func cancel(_ call: MethodCall) throws {
        guard !isOver else { return }
        let running = machine.cancel().compactMap { activities[$0].runner }
        call.afterReply { [weak self] in
            self?.tell()
            for runner in running {
                // One that its application has already ends by itself.
                if let actions = try? runner.cancel() { runner.perform(actions) }
            }
        }
    }

    var total: UInt32 { UInt32(activities.count) }
    var done: UInt32 { UInt32(machine.done) }
    var failed: UInt32 { UInt32(machine.failed) }

    var results: [[String: Value]] {
        zip(activities, machine.states).map { activity, state in
            var (text, application, name, message) = ("", activity.application, "", "")
            switch state {
            case .waiting: text = "waiting"
            case .continuing: text = "continuing"
            case .continued(let by, let note): (text, application, message) = ("continued", by, note)
            case .failed(let failure):
                (text, name, message) = ("failed", failure.dbusError.name.text, failure.message)
            }
            return [
                "Activity": .objectPath(activity.path), "DeviceName": .string(activity.deviceName),
                "Title": .string(activity.title), "ActivityType": .string(activity.type),
                "ApplicationId": .string(application?.description ?? ""), "State": .string(text),
                "ErrorName": .string(name), "Message": .string(message),
            ]
        }
    }
}
