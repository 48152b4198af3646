// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What clients and users cause that concerns several parts of the session.
@MainLoop
protocol SessionEvents: AnyObject {
    /// Switches Handoff on or off for the user.
    func setEnabled(_ isEnabled: Bool, _ call: MethodCall) throws
    /// `name` wants to be told of things, now or again.
    func welcome(_ name: BusName)
    /// `connection` has registered, perhaps not for the first time.
    func registered(_ connection: String)
    /// Takes back what `connection` registered, and ends what it has. `isOnBus`: whether it can still be told.
    func unregister(_ connection: String, isOnBus: Bool)
    /// The user has chosen other applications for types of activities.
    func applicationsChosen()
    /// Which applications are excluded has changed, or which of them that concerns. Those that are kept out stay
    /// registered, so that they need to do nothing when they are let in again; until then nothing of theirs goes to peers,
    /// and nothing of peers goes to them.
    func exclude()
}

/// `org.example.Handoff.Manager`: registering, creating activities, the switch.
@MainLoop
final class ManagerObject: ManagerServer {
    private unowned let session: any SessionEvents
    private let activities: OwnActivities
    private let offers: Offers
    private let fetches: FetchLog
    private let continuing: ContinuingAtOnce
    private var applications: Applications { activities.applications }
    private var warnedTypes: Set<ActivityType> = []
    private var refusals = RecentRefusals()

    /// How many bytes the path of an application's object may have.
    private static let maximumPathSize = 4096

    init(
        _ session: any SessionEvents, _ activities: OwnActivities, _ offers: Offers, _ fetches: FetchLog,
        _ continuing: ContinuingAtOnce
    ) {
        (self.session, self.activities, self.offers, self.fetches) = (session, activities, offers, fetches)
        self.continuing = continuing
    }

    var enabled: Bool { activities.isEnabled }
    var maximumUserInfoSize: UInt32 { UInt32(UserInfoRules.maximumSize) }
    var version: UInt32 { 1 }

    var recentFetches: [[String: Value]] {
        fetches.recent.fetches.map { fetch in
            Self.properties(of: fetch).merging(["Kind": .string(fetch.kind.rawValue)]) { $1 }
        }
    }

    var fetchesByDevice: [[String: Value]] {
        fetches.recent.devices.map { tally in
            Self.properties(of: tally.last)
                .merging([
                    "Fetches": .uint64(tally.fetches), "Streams": .uint64(tally.streams),
                    "Documents": .uint64(tally.documents), "Clipboards": .uint64(tally.clipboards),
                ]) { $1 }
        }
    }

    var listingsByDevice: [[String: Value]] {
        fetches.listings.map { listing in
            [
                "DeviceId": .string(listing.device.description), "DeviceName": .string(listing.deviceName),
                "Time": .int64(listing.time), "Titles": .strings(listing.titles),
            ]
        }
    }

    private static func properties(of fetch: RecentFetches.Fetch) -> [String: Value] {
        [
            "Time": .int64(fetch.time), "DeviceId": .string(fetch.device.description),
            "DeviceName": .string(fetch.deviceName), "ActivityType": .string(fetch.type.description),
            "ApplicationId": .string(fetch.applicationID.description), "Title": .string(fetch.title),
        ]
    }

    var hiddenOffers: [[String: Value]] {
        offers.hidden.map { hidden in
            let offer = hidden.offer
            return [
                "DeviceId": .string(hidden.device.description),
                "DeviceName": .string(offers.peers.name(of: hidden.device)),
                "ActivityId": .string(offer.id.description), "ActivityType": .string(offer.type.description),
                "ApplicationId": .string(offer.applicationID.description), "Title": .string(offer.title),
                "Since": .int64(offer.since), "Invited": .boolean(hidden.isInvited),
                "Reason": .string(hidden.reason),
                "ExcludedApplication": .string(hidden.excluded?.description ?? ""),
            ]
        }
    }

    var registeredApplications: [[String: Value]] {
        let current = activities.current.flatMap { activities[$0] }?.connection
        return applications.registry.all.map { one in
            [
                "Connection": .string(one.connection),
                "ApplicationId": .string(one.applicationID.description),
                "Team": .string(one.team.description),
                "ActivityTypes": .strings(one.declaration.types.map(\.description).sorted()),
                "Excluded": .boolean(applications.registry.isExcluded(one)),
                "Activities": .uint32(UInt32(activities.count(of: one.connection))),
                "Current": .boolean(one.connection == current),
                "NotOffered": .string(one.connection == current ? activities.whyNotOffered : ""),
            ]
        }
    }

    var leftActivity: ObjectPath {
        activities.left.flatMap { activities.object(of: $0.id)?.path } ?? .root
    }

    var recentRefusals: [[String: Value]] {
        refusals.all.map { one in
            [
                "Time": .int64(one.time), "Connection": .string(one.connection),
                "ProcessId": .uint32(one.process), "ApplicationId": .string(one.applicationID),
                "Member": .string(one.member), "ErrorName": .string(one.error),
                "Message": .string(one.message),
            ]
        }
    }

    /// A program of this session was refused what it called.
    func refused(_ call: Message, _ caller: Caller, _ error: DBusError) {
        guard let name = caller.name else { return }
        let application = applications.registration(of: name.text)?.applicationID.description ?? ""
        refusals.add(
            RecentRefusals.Refusal(
                time: activities.clock.wall, connection: name.text,
                process: caller.credentials?.processID ?? 0, applicationID: application,
                member: call.member ?? "", error: error.name.text, message: PeerText.message(error.message)))
    }

    func setEnabled(_ enabled: Bool, _ call: MethodCall) throws { try session.setEnabled(enabled, call) }

    func registerApplication(
        applicationId: String, activityTypes: [String], application: ObjectPath, options: [String: Value],
        _ call: MethodCall
    ) throws {
        let name = try caller(call)
        let id = try ApplicationID(applicationId)
        let options = try RegistrationOptions(options)
        let declaration = Declaration(
            activityTypes: try Self.types(activityTypes), documentTypes: options.documentTypes,
            domains: options.domains)
        try SandboxClaims.check(
            call.caller, id, options.team, declaration, applications.registry.installed[id],
            isKnown: applications.areInstalledKnown)
        try Self.check(application)
        let registration = Registration(
            connection: name.text, applicationID: id, team: options.team, declaration: declaration,
            objectPath: application.text, receives: options.receives, isAdapter: options.isAdapter,
            package: call.caller.sandbox?.package)
        let former = try applications.register(registration, from: call.caller)
        session.welcome(name)
        if let former, former.applicationID != id {
            brokerLog.debug("\(name) was registered as \(former.applicationID) before.")
        }
        let types = declaration.types
        warn(of: types, id)
        let isExcluded = applications.registry.isExcluded(registration)
        brokerLog.debug(
            "\(name) is registered as \(options.isAdapter ? "an adapter of " : "")\(id), team \(registration.team), \(types.count) types"
                + (isExcluded ? ", and kept out, since the user has excluded it." : "."))
        call.afterReply { [weak session] in session?.registered(name.text) }
    }

    /// The types are checked only if there are not too many of them.
    private static func types(_ texts: [String]) throws(HandoffFailure) -> [ActivityType] {
        guard texts.count <= Quota.types else {
            throw HandoffFailure(
                .limitsExceeded,
                "\(texts.count) activity types are more than the \(Quota.types) allowed. Declare fewer, and tell"
                    + " kinds of activity apart by their UserInfo.")
        }
        var types: [ActivityType] = []
        for text in texts { types.append(try ActivityType(text)) }
        return types
    }

    private static func check(_ application: ObjectPath) throws(HandoffFailure) {
        try ActivityState.refuseReserved(application, "The path of the application")
        let size = application.text.utf8.count
        guard size <= maximumPathSize else {
            throw HandoffFailure(
                .limitsExceeded,
                "The path of the application takes \(size) bytes, more than the \(maximumPathSize) allowed.")
        }
    }

    func unregisterApplication(_ call: MethodCall) throws {
        let name = try caller(call)
        _ = try applications.registry.requireRegistration(of: name.text)
        call.afterReply { [weak session] in session?.unregister(name.text, isOnBus: true) }
    }

    func createActivity(
        activityType: String, properties: [String: Value], _ call: MethodCall
    ) throws -> ObjectPath {
        let name = try caller(call)
        let registration = try applications.registry.requireRegistration(of: name.text)
        let documentType = properties["DocumentURL"]?.string.flatMap {
            ActivityURL.documentType($0, applications.fileNameTypes)
        }
        let type = try applications.registry.activityType(
            activityType, documentType: documentType, for: name.text)
        var generator = UnpredictableNumbers()
        let object = try ActivityObject(
            ActivityID(using: &generator), type: type, registration: registration, caller: call.caller,
            owner: name, among: activities, properties: properties)
        try activities.add(object)
        call.afterReply { [weak activities] in activities?.export(object) }
        return object.path
    }

    func continueAll(
        activities: [ObjectPath], options: [String: Value], _ call: MethodCall
    ) throws -> ObjectPath {
        guard self.activities.isEnabled else { throw HandoffFailure.disabled }
        return try continuing.begin(activities, options, for: try caller(call), call)
    }

    private func caller(_ call: MethodCall) throws -> BusName {
        guard let name = call.caller.name else {
            throw DBusError.accessDenied("Only connections of a bus can register.")
        }
        return name
    }

    private func warn(of types: [ActivityType], _ id: ApplicationID) {
        for type in types
        where !type.isReverseDNS && warnedTypes.count < 1024 && warnedTypes.insert(type).inserted {
            brokerLog.warning(
                "\(id) declares the activity type \(PeerText.message(type.description)); a reverse-DNS name is recommended."
            )
        }
    }
}
