// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
public import HandoffKit

/// A broker in memory, for the tests of applications: what it refuses and what it does is what the broker of a session
/// refuses and does, by the same rules. It runs from the beginning, until ``stop()``.
///
/// ```swift
/// let (laptop, desktop) = TestBroker.pair()
/// let notes = laptop.application(id: "org.example.Notes", activityTypes: ["org.example.notes.edit"])
/// ```
@MainActor
public final class TestBroker {
    /// What an application has called, in the order in which it took effect.
    public enum Call: Hashable, Sendable {
        /// It has registered under this id.
        case register(String)
        /// It has created an activity of this type.
        case create(String)
        /// It has set these properties, which are in alphabetical order.
        case update([String])
        /// It has made an activity the current one.
        case becomeCurrent
        /// It has made an activity no longer the current one.
        case resignCurrent
        /// It has ended an activity.
        case invalidate
    }

    /// The device that this is the broker of.
    public let device: ContinuationDevice
    /// What applications have called.
    public internal(set) var calls: [Call] = []
    /// Whether there is a broker at all.
    public private(set) var isRunning = true
    /// The user's switch.
    public var isEnabled = true {
        didSet { perform(activities.setEnabled(isEnabled, at: now)) }
    }

    var registry = Registry()
    var activities = SessionActivities(isEnabled: true)
    var holdings = ClientHoldings()
    /// What is known of each activity.
    var objects: [ActivityID: TestActivity] = [:]
    var continuations: [ContinuationNumber: TestContinuation] = [:]
    var streams: [TestStream] = []
    weak var peer: TestBroker?
    private var backends: [WeakBackend] = []
    private var connections = 0
    private var continuationCount: UInt64 = 0
    /// How much later it is here than it is.
    private var lead = Duration.zero
    /// What the clocks of the machine said when they were stopped here.
    private var held: (monotonic: Int64, wall: Int64)?
    private var activitiesTimer: Task<Void, Never>?
    /// What applications have asked to be called for, and when.
    private var timers: [(deadline: Instant, timer: BackendTimer)] = []
    private var underWay = 0
    private var settlers: [CheckedContinuation<Void, Never>] = []

    /// The broker of a device that is called `name`.
    public init(name: String = "This device") {
        device = ContinuationDevice(id: Self.newDeviceID(), name: name)
    }

    /// The brokers of two devices that are paired and linked.
    public static func pair(
        _ first: String = "Laptop", _ second: String = "Desktop"
    ) -> (TestBroker, TestBroker) {
        let (one, other) = (TestBroker(name: first), TestBroker(name: second))
        one.peer = other
        other.peer = one
        return (one, other)
    }

    /// An application of this device, which has started.
    public func application(
        id: String, activityTypes: [String] = [], team: String? = nil, documentTypes: [String: String] = [:],
        domains: [String] = []
    ) -> HandoffApplication {
        let declaration = ApplicationDeclaration(
            id: id, activityTypes: activityTypes, team: team, documentTypes: documentTypes, domains: domains)
        let application = HandoffApplication(declaration, backend: newBackend())
        application.start()
        return application
    }

    /// Runs `body`, in which every ``HandoffApplication`` that is made is one of this device: for the tests of code that
    /// makes its application itself.
    public func use<Result>(_ body: @MainActor () async throws -> Result) async rethrows -> Result {
        try await BackendScope { self.newBackend() }.run { try await body() }
    }

    /// Runs `body`, in which every ``HandoffApplication`` that is made is one of this device.
    public func use<Result>(_ body: @MainActor () throws -> Result) rethrows -> Result {
        try BackendScope { self.newBackend() }.run { try body() }
    }

    /// Runs `body` as code of `application`, which is the shared one there: for tests that have several in one process.
    public func run<Result>(
        as application: HandoffApplication, _ body: @MainActor () async throws -> Result
    ) async rethrows -> Result { try await application.perform(body) }

    // MARK: Coming and going

    /// The broker ends, as if it was killed: everything that it knew is gone.
    public func stop() {
        guard isRunning else { return }
        isRunning = false
        for continuation in continuations.values { continuation.brokerEnded() }
        continuations = [:]
        breakStreams()
        peer?.originVanished(self)
        for object in objects.values { object.end() }
        objects = [:]
        activities = SessionActivities(isEnabled: isEnabled)
        registry = Registry()
        holdings = ClientHoldings()
        for backend in backends.compactMap(\.value) { backend.brokerEnded() }
    }

    /// The broker begins: applications register with it, and make their activities again.
    public func start() {
        guard !isRunning else { return }
        isRunning = true
        for backend in backends.compactMap(\.value) { backend.brokerBegan() }
    }

    /// The broker ends and begins anew.
    public func restart() {
        stop()
        start()
    }

    /// The link to the other device is cut, and what goes through it breaks.
    public func disconnect() {
        let former = peer
        peer = nil
        breakStreams()
        former?.breakStreams()
        if former?.peer === self { former?.peer = nil }
    }

    /// Breaks all streams of this device, as a cut link does.
    public func breakStreams() {
        for stream in streams { stream.cut() }
        streams = []
    }

    // MARK: Time

    /// Waits until everything has taken effect that applications have called so far, and what that causes; but not for
    /// what applications themselves wait for when they save.
    public func settle() async {
        // Each turn lets everything run that was on its way, and what that begins is on its way then.
        for _ in 0..<32 {
            await Task.yield()
            if underWay > 0 { await withCheckedContinuation { settlers.append($0) } }
        }
    }

    /// Stops the clocks of this broker: from now on they only move with ``advance(by:)``, so that nothing depends on how
    /// fast a test runs.
    public func holdClock() {
        if held == nil { held = TestClock.now }
    }

    /// Moves the clocks of this broker on, so that no test has to wait for what takes time.
    public func advance(by duration: Duration) async {
        lead += duration
        perform(activities.advance(to: now))
        for object in objects.values { object.advance() }
        let due = timers.filter { $0.deadline <= now.instant }
        timers.removeAll { $0.deadline <= now.instant }
        for one in due { one.timer.fire() }
        await settle()
    }

    /// Calls `body` after `time` on the clocks of this broker.
    func timer(after time: Duration, _ body: @escaping @MainActor () -> Void) -> BackendTimer {
        let (timer, deadline) = (BackendTimer(body), now.instant.advanced(by: time))
        timers.append((deadline, timer))
        // While the clocks stand still, only ``advance(by:)`` moves them.
        let sleep = held == nil ? TestClock.timer(deadline, now.instant) { timer.fire() } : nil
        timer.whenOver { [weak self] in
            sleep?.cancel()
            self?.timers.removeAll { $0.timer === timer }
        }
        return timer
    }

    /// What the clocks of this broker say.
    var now: Moment {
        let reading = held ?? TestClock.now
        let ahead = Int64(lead / .microseconds(1))
        return Moment(
            instant: Instant(microseconds: reading.monotonic + ahead), wall: reading.wall + ahead)
    }

    /// Does `body` after everything that was called before.
    func later(_ body: @escaping @MainActor () async -> Void) {
        underWay += 1
        Task {
            await body()
            underWay -= 1
            guard underWay == 0 else { return }
            let waiting = settlers
            settlers = []
            for settler in waiting { settler.resume() }
        }
    }

    /// Looks at the activities again when their next deadline has come.
    func setActivitiesTimer() {
        activitiesTimer?.cancel()
        activitiesTimer = TestClock.timer(activities.nextDeadline, now.instant) { [weak self] in
            guard let self else { return }
            perform(activities.advance(to: now))
        }
    }

    // MARK: Connections

    func newBackend() -> TestBackend {
        connections += 1
        let backend = TestBackend(self, connection: ":1.\(connections)")
        backends = backends.filter { $0.value != nil } + [WeakBackend(value: backend)]
        return backend
    }

    func newContinuation() -> ContinuationNumber {
        continuationCount += 1
        return ContinuationNumber(continuationCount)
    }

    func backend(of connection: String) -> TestBackend? {
        backends.lazy.compactMap(\.value).first { $0.connection == connection }
    }

    private static func newDeviceID() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in ActivityID(using: &generator).description }.joined()
    }

    private struct WeakBackend {
        weak var value: TestBackend?
    }
}
