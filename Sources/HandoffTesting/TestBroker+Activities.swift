// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
public import HandoffKit

/// What a ``TestBroker`` knows of an activity.
public struct TestActivityState: Hashable, Sendable {
    /// What kind of activity it is.
    public let activityType: String
    /// What its user is doing.
    public let title: String
    /// The state that the continuing application would get.
    public let userInfo: HandoffKit.UserInfo
    /// The application that it is of.
    public let applicationID: String
    /// Whether its state is out of date.
    public let needsSave: Bool
    /// Whether it is offered to other devices.
    public let isOffered: Bool
    /// The names of all properties that are set, as in `org.example.Handoff.Activity`.
    public let properties: Set<String>
}

extension TestBroker {
    /// The current activity of this device; nil if there is none.
    public var currentActivity: TestActivityState? {
        activities.current.flatMap { objects[$0] }.map { state(of: $0) }
    }

    /// How many activities there are.
    public var activityCount: Int { objects.count }

    /// The ids of the applications that have registered.
    public var registeredApplications: [String] { registry.all.map(\.applicationID.description) }

    func state(of object: TestActivity) -> TestActivityState {
        let properties = object.state.shared
        return TestActivityState(
            activityType: object.type.description, title: object.state.title,
            userInfo: (try? HandoffKit.UserInfo(properties: object.state.userInfo.properties)) ?? [:],
            applicationID: object.applicationID.description, needsSave: object.saving.needsSave,
            isOffered: activities.offered?.id == object.id, properties: Set(properties.keys))
    }

    // MARK: Registering

    func register(_ declaration: ApplicationDeclaration, connection: String) throws(HandoffFailure) {
        var own = Declaration(domains: declaration.domains)
        for type in declaration.activityTypes { own.activityTypes.append(try ActivityType(type)) }
        for (mimeType, type) in declaration.documentTypes {
            own.documentTypes[mimeType] = try ActivityType(type)
        }
        guard own.domains.count <= Quota.domains else {
            throw HandoffFailure(
                .limitsExceeded,
                "Domains names \(own.domains.count) hosts, more than the \(Quota.domains) allowed.")
        }
        let team: Team? = if let team = declaration.team { try Team(team) } else { nil }
        let registration = Registration(
            connection: connection, applicationID: try ApplicationID(declaration.id), team: team,
            declaration: own, objectPath: "/")
        holdings.joined(connection, process: 1)
        try holdings.declare(registration.declared, of: connection)
        try registry.register(registration)
        calls.append(.register(declaration.id))
    }

    func unregister(_ connection: String) {
        registry.remove(connection)
        perform(activities.connectionVanished(connection, at: now))
        holdings.left(connection)
    }

    // MARK: Activities

    func create(
        _ number: ActivityNumber, type: String, properties: [String: Value], backend: TestBackend
    ) throws(HandoffFailure) -> ActivityID {
        let registration = try registry.requireRegistration(of: backend.connection)
        let documentType = properties["DocumentURL"]?.string.flatMap { ActivityURL.documentType($0) }
        let type = try registry.activityType(type, documentType: documentType, for: backend.connection)
        var state = ActivityState()
        let needsSave = try state.apply(properties)
        var generator = SystemRandomNumberGenerator()
        let object = TestActivity(
            ActivityID(using: &generator), type: type, registration: registration, number: number,
            state: state,
            backend: backend, broker: self)
        try holdings.begin(state.size, of: backend.connection)
        do throws(HandoffFailure) {
            try activities.create(
                object.id, connection: backend.connection, type: type,
                applicationID: registration.applicationID, details: object.details)
        } catch {
            holdings.end(state.size, of: backend.connection)
            throw error
        }
        objects[object.id] = object
        calls.append(.create(type.description))
        if needsSave == true { object.setNeedsSave(true) }
        return object.id
    }

    func update(_ id: ActivityID, _ properties: [String: Value]) throws(HandoffFailure) {
        guard let object = objects[id] else { return }
        calls.append(.update(properties.keys.sorted()))
        try object.apply(properties)
    }

    func becomeCurrent(_ id: ActivityID) {
        calls.append(.becomeCurrent)
        if let actions = try? activities.becomeCurrent(id, at: now) { perform(actions) }
    }

    func resignCurrent(_ id: ActivityID) {
        calls.append(.resignCurrent)
        if let actions = try? activities.resignCurrent(id, at: now) { perform(actions) }
    }

    func invalidate(_ id: ActivityID) {
        calls.append(.invalidate)
        if let actions = try? activities.invalidate(id, at: now) { perform(actions) }
    }

    /// Draws the consequences of a change.
    func perform(_ actions: [SessionActivities.Action]) {
        for action in actions {
            switch action {
            case .offer, .withdraw: break
            case .currentChanged(let id, let isCurrent): objects[id]?.currentChanged(isCurrent)
            case .invalidated(let id): objects.removeValue(forKey: id)?.end()
            }
        }
        setActivitiesTimer()
    }
}
