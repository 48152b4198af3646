// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What the manager needs from the session.
@MainLoop
protocol ManagerOwner: ActivityBroker {
    /// What peers offer.
    var remoteOffers: RemoteOffers { get }
    /// What peers took last.
    var recentFetches: RecentFetches { get }
    /// Switches Handoff on or off for the user.
    func setEnabled(_ isEnabled: Bool, _ call: MethodCall) throws
    /// Whether the desktop entries have been read; if not, the registry knows some of them at most.
    var areInstalledApplicationsKnown: Bool { get }
    /// Takes in a registration of `caller`, in place of what it registered before, which is returned.
    func register(_ registration: Registration, from caller: Caller) throws -> Registration?
    /// `connection` has registered: what that causes follows the reply.
    func registered(_ connection: String)
    /// Takes back what `connection` registered, and ends what it has.
    func unregister(_ connection: String, isOnBus: Bool)
    /// `name` wants to be told of things, now or again.
    func welcome(_ name: BusName)
    /// Takes in an activity.
    func add(_ object: ActivityObject) throws
    /// Makes `object`, which has been added, known.
    func export(_ object: ActivityObject)
}

extension Broker: ManagerOwner {
    var areInstalledApplicationsKnown: Bool { installedApplications.areKnown }
}

/// `org.example.Handoff.Manager`: registering, creating activities, the switch.
@MainLoop
final class ManagerObject: ManagerServer {
    private let owner: any ManagerOwner
    private var warnedTypes: Set<ActivityType> = []

    /// How many bytes the path of an application's object may have.
    private static let maximumPathSize = 4096

    init(_ owner: any ManagerOwner) { self.owner = owner }

    var enabled: Bool { owner.activities.isEnabled }
    var maximumUserInfoSize: UInt32 { UInt32(UserInfoRules.maximumSize) }
    var version: UInt32 { 1 }

    var recentFetches: [[String: Value]] {
        owner.recentFetches.fetches.map { fetch in
            Self.properties(of: fetch).merging(["Kind": .string(fetch.kind.rawValue)]) { $1 }
        }
    }

    var fetchesByDevice: [[String: Value]] {
        owner.recentFetches.devices.map { tally in
            Self.properties(of: tally.last)
                .merging([
                    "Fetches": .uint64(tally.fetches), "Streams": .uint64(tally.streams),
                    "Documents": .uint64(tally.documents),
                ]) { $1 }
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
        owner.remoteOffers.hidden.map { hidden in
            let offer = hidden.offer
            return [
                "DeviceId": .string(hidden.device.description),
                "DeviceName": .string(owner.name(of: hidden.device)),
                "ActivityId": .string(offer.id.description), "ActivityType": .string(offer.type.description),
                "ApplicationId": .string(offer.applicationID.description), "Title": .string(offer.title),
                "Since": .int64(offer.since), "Invited": .boolean(hidden.isInvited),
                "Reason": .string(hidden.reason),
                "ExcludedApplication": .string(hidden.excluded?.description ?? ""),
            ]
        }
    }

    func setEnabled(_ enabled: Bool, _ call: MethodCall) throws { try owner.setEnabled(enabled, call) }

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
            call.caller, id, options.team, declaration, owner.registry.installed[id],
            isKnown: owner.areInstalledApplicationsKnown)
        try Self.check(application)
        let registration = Registration(
            connection: name.text, applicationID: id, team: options.team, declaration: declaration,
            objectPath: application.text, receives: options.receives, isAdapter: options.isAdapter,
            package: call.caller.sandbox?.package)
        let former = try owner.register(registration, from: call.caller)
        owner.welcome(name)
        if let former, former.applicationID != id {
            brokerLog.debug("\(name) was registered as \(former.applicationID) before.")
        }
        let types = declaration.types
        warn(of: types, id)
        let isExcluded = owner.registry.isExcluded(registration)
        brokerLog.debug(
            "\(name) is registered as \(options.isAdapter ? "an adapter of " : "")\(id), team \(registration.team), \(types.count) types"
                + (isExcluded ? ", and kept out, since the user has excluded it." : "."))
        call.afterReply { [weak owner] in owner?.registered(name.text) }
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
        _ = try owner.registry.requireRegistration(of: name.text)
        call.afterReply { [weak owner] in owner?.unregister(name.text, isOnBus: true) }
    }

    func createActivity(
        activityType: String, properties: [String: Value], _ call: MethodCall
    ) throws -> ObjectPath {
        let name = try caller(call)
        let registration = try owner.registry.requireRegistration(of: name.text)
        let documentType = properties["DocumentURL"]?.string.flatMap {
            ActivityURL.documentType($0, owner.fileNameTypes)
        }
        let type = try owner.registry.activityType(activityType, documentType: documentType, for: name.text)
        var generator = UnpredictableNumbers()
        let object = try ActivityObject(
            ActivityID(using: &generator), type: type, registration: registration, caller: call.caller,
            owner: name,
            broker: owner,
            properties: properties)
        try owner.add(object)
        call.afterReply { [weak owner] in owner?.export(object) }
        return object.path
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
