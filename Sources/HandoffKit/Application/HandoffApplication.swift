// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import MainLoop
public import Observation
internal import Platform

/// This application, as Handoff knows it: what it declares, and what it does with activities of other devices.
///
/// It has to be kept for as long as the application runs.
@MainActor @Observable
public final class HandoffApplication {
    /// What restores itself from an activity: called with the objects that show it.
    public typealias RestorationHandler = @MainActor ([any UserActivityResponder]) -> Void

    /// The id: the name of the desktop entry without `.desktop`.
    @ObservationIgnored public let id: String
    /// Who continues activities. What arrives before there is anybody is kept for them.
    @ObservationIgnored public weak var delegate: (any HandoffApplicationDelegate)? {
        didSet { handOverSoon() }
    }
    /// Whether activities may be handed over. While this is false, for example because the windows that show them are not
    /// there yet, they are kept in ``pending``.
    @ObservationIgnored public var isReady = true {
        didSet { handOverSoon() }
    }
    /// The activities that have arrived and are kept until somebody asks for them, the oldest first. The device that they
    /// come from is told that they were continued once the broker would wait no longer, which is after half a minute. No
    /// more than eight are kept: with the ninth the oldest of those is dropped, which the log says.
    public var pending: [UserActivity] { kept.map(\.activity) }
    /// Whether the broker knows the application now.
    public private(set) var isRegistered = false
    /// Why the broker has refused the application; nil if it has not.
    public private(set) var registrationError: HandoffError?

    @ObservationIgnored let declaration: ApplicationDeclaration
    @ObservationIgnored let backend: BusBackend
    @ObservationIgnored var closures = HandoffApplicationClosures()
    @ObservationIgnored private var hasStarted = false
    /// Whether it is on the session's bus, and not on one of a test.
    @ObservationIgnored private var isOfSession = false
    var kept: [KeptActivity] = []
    /// The activities that the broker knows, by number.
    @ObservationIgnored private var activities: [ActivityKey: WeakActivity] = [:]
    @ObservationIgnored private var numbers: UInt64 = 0

    private static weak var latest: HandoffApplication?
    /// Those on the session's bus that have started, by id.
    private static var started: [String: WeakApplication] = [:]
    private static var running: RunToken?
    /// The activities that want to be current and were made before any application was.
    private static var waiting: [WeakActivity] = []

    /// An application, which begins with ``start()``. What its desktop entry declares besides counts too.
    /// - Parameters:
    ///   - id: the name of the desktop entry without `.desktop`.
    ///   - activityTypes: the types of activities that it makes and continues, in reverse-DNS form; the first is that of
    ///     activities without one.
    ///   - team: who may continue each other's activities; nil for what the desktop entry says, else this application alone.
    ///   - documentTypes: by MIME type, the type of activities for documents.
    ///   - domains: the web hosts whose pages it shows.
    public convenience init(
        id: String, activityTypes: [String] = [], team: String? = nil, documentTypes: [String: String] = [:],
        domains: [String] = []
    ) {
        let declaration = ApplicationDeclaration(
            id: id, activityTypes: activityTypes, team: team, documentTypes: documentTypes, domains: domains)
        self.init(declaration, backend: BackendScope.makeBackend())
        isOfSession = BackendScope.current == nil
    }

    /// An application that stands on `backend`.
    package init(_ declaration: ApplicationDeclaration, backend: BusBackend) {
        id = declaration.id
        self.declaration = declaration
        self.backend = backend
        if let scope = BackendScope.current { scope.latest = self } else { Self.latest = self }
        backend.application = self
    }

    isolated deinit {
        backend.stop()
        for activity in activities.values { activity.value?.applicationStopped() }
    }

    /// The application of this process: the one that was made last.
    public static var shared: HandoffApplication? {
        if let acting = Acting.application { return acting }
        if let scope = BackendScope.current { return scope.latest }
        return latest
    }
    /// Whether there is a broker to talk to, and it knows the application of this process. Without one everything is
    /// accepted and does nothing.
    public static var isAvailable: Bool { shared?.isRegistered ?? false }

    /// The activity types that it declares here.
    public var activityTypes: [String] { declaration.activityTypes }
    /// The types of activities for documents that it declares here, by MIME type.
    public var documentTypes: [String: String] { declaration.documentTypes }

    /// Registers from now on, again with each new broker. Without Handoff it does nothing.
    ///
    /// The session bus is another matter: it ends with the session, and does not come back. If there is none, everything is
    /// accepted and does nothing, too. Once it has ended, whatever waits ends with an error, ``run()`` returns, and nothing
    /// follows until ``stop()`` and another ``start()``; each activity has to be made current again then.
    ///
    /// A process has one application of an id. Another one is refused as long as the first has not stopped, which
    /// ``registrationError`` and the log say. Applications of several ids are several applications.
    public func start() {
        guard !hasStarted, takeID() else { return }
        hasStarted = true
        backend.start(declaration)
        let waiting = Self.waiting
        Self.waiting = []
        for activity in waiting.compactMap(\.value) where activity.application == nil {
            activity.application = self
            activity.becomeCurrent()
        }
    }

    /// Takes the id for this application, unless another one in this process has it.
    private func takeID() -> Bool {
        guard isOfSession else { return true }
        if let other = Self.started[id]?.value, other !== self {
            let error = HandoffError(
                .invalidArguments,
                "There is another HandoffApplication “\(id)” in this process. Keep that one, or stop it before this one"
                    + " starts.")
            kitLog.warning("The application \(id) does not start. \(error.message)")
            registrationError = error
            return false
        }
        Self.started[id] = WeakApplication(value: self)
        return true
    }

    /// Takes the registration and all activities back. They can become current again after another ``start()``.
    public func stop() {
        hasStarted = false
        if Self.started[id]?.value === self { Self.started[id] = nil }
        backend.stop()
        let former = activities.values
        activities = [:]
        for activity in former { activity.value?.applicationStopped() }
        standingChanged(.absent)
    }

    /// The type of activities without one, as far as it follows from what was declared here.
    var defaultType: String? { activityTypes.first ?? documentTypes.min { $0.key < $1.key }?.value }

    func standingChanged(_ new: HandoffStanding) {
        // What was on its way when the application stopped is out of date.
        let standing = hasStarted ? new : .absent
        let isNow = standing == .registered
        if isRegistered != isNow { isRegistered = isNow }
        if case .refused(let failure) = standing {
            kitLog.warning("The broker has refused the application \(id): \(failure.message)")
            registrationError = HandoffError(failure)
        } else if registrationError != nil {
            registrationError = nil
        }
        if standing == .ended {
            kitLog.debug("The session bus has ended, and \(id) is no longer registered.")
            Self.running?.stop()
        }
    }

    // MARK: Activities

    /// A new number for `activity`, by which the broker knows it.
    func take(_ activity: UserActivity) -> ActivityKey {
        numbers += 1
        let number = ActivityKey(numbers)
        activities[number] = WeakActivity(value: activity)
        return number
    }

    /// The activity of this number has ended.
    func forget(_ number: ActivityKey) {
        if activities.removeValue(forKey: number) != nil { backend.invalidate(number) }
    }

    /// The activity that the broker knows by this number, if it still exists.
    func activity(_ number: ActivityKey) -> UserActivity? { activities[number]?.value }

    /// `activity` becomes current as soon as there is an application.
    static func await(_ activity: UserActivity) {
        forgetWaiting(activity)
        waiting.append(WeakActivity(value: activity))
    }

    /// `activity` does not want to become current any more.
    static func forgetWaiting(_ activity: UserActivity) {
        waiting.removeAll { $0.value == nil || $0.value === activity }
    }

    // MARK: The loop

    /// Runs the main loop for a program that has none of its own, until ``quit()``, or until the session bus ends: then the
    /// user has logged out, and a program without windows would be left behind. To be called on the first thread, as the
    /// last line of `main.swift`. Whoever has something to finish does so after it, or calls it once more.
    public static func run() {
        MainActorSource.attach()
        let token = RunToken()
        running = token
        MainLoop.run(until: token)
        running = nil
    }

    /// Makes ``run()`` return.
    public static func quit() { running?.stop() }
}

/// An application that is not kept.
private struct WeakApplication {
    weak var value: HandoffApplication?
}

/// An activity that is not kept.
struct WeakActivity {
    weak var value: UserActivity?
}
