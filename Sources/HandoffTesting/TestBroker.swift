// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffBroker
internal import HandoffCore
internal import HandoffInterfaces
public import HandoffKit
internal import MainLoop
internal import Platform

/// A broker in this process, for the tests of applications: the broker of a session, on a bus of its own, on a machine
/// without other applications. It runs from the beginning, until ``stop()``.
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
        /// It has made an activity no longer the current one, which stays open.
        case leaveCurrent
        /// It has made an activity open, without making it the current one.
        case becomeOpen
        /// It has ended an activity.
        case invalidate
    }

    /// The device that this is the broker of.
    public let device: ContinuationDevice
    private let side: TestDevice

    /// The broker of a device that is called `name`.
    public init(name: String = "This device") {
        var generator = UnpredictableNumbers()
        let peer = TestPeer(id: DeviceID(using: &generator), name: name)
        device = ContinuationDevice(id: peer.id.description, name: name)
        side = LoopThread.wait {
            let side = TestDevice(peer)
            await side.start()
            try? await side.bridge.begin()
            return side
        }
    }

    /// The brokers of two devices that are paired and linked.
    public static func pair(
        _ first: String = "Laptop", _ second: String = "Desktop"
    ) -> (TestBroker, TestBroker) {
        let (one, other) = (TestBroker(name: first), TestBroker(name: second))
        let (here, there) = (one.side, other.side)
        LoopThread.wait { TestDevice.link(here, there) }
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

    private func newBackend() -> BusBackend { BusBackend(.memory(side.bus), clock: side.clock) }

    // MARK: Coming and going

    /// Whether there is a broker at all.
    public var isRunning: Bool { now { $0.broker != nil } }

    /// The user's switch.
    public var isEnabled: Bool {
        get { now { $0.broker?.isOn ?? true } }
        set { now { await $0.setEnabled(newValue) } }
    }

    /// The broker ends, as if it was killed: everything that it knew is gone.
    public func stop() { now { $0.stop() } }

    /// The broker begins: applications register with it, and make their activities again.
    public func start() { now { await $0.start() } }

    /// The broker ends and begins anew.
    public func restart() {
        stop()
        start()
    }

    /// The link to the other device is cut, and what goes through it breaks.
    public func disconnect() { now { $0.disconnect() } }

    /// Breaks all streams of this device, as a cut link does.
    public func breakStreams() { now { $0.bridge.breakStreams() } }

    // MARK: Time

    /// Waits until everything has taken effect that applications have called so far, and what that causes; but not for
    /// what applications themselves wait for when they save.
    public func settle() async {
        let side = side
        var (traffic, quietTurns) = (0, 0)
        // What is on its way passes from one thread to the other a few times, and there through many turns.
        while quietTurns < 8 {
            for _ in 0..<4 { await Task.yield() }
            let (now, hasAnswered) = await MainLoop.start {
                for _ in 0..<32 { await Task.yield() }
                return (side.traffic + (side.peer?.traffic ?? 0), side.hasAnswered)
            }.value
            quietTurns = now == traffic && hasAnswered ? quietTurns + 1 : 0
            traffic = now
        }
    }

    /// Stops the clocks of this broker: from now on they only move with ``advance(by:)``, so that nothing depends on how
    /// fast a test runs.
    public func holdClock() { now { $0.clock.stop() } }

    /// Moves the clocks of this broker on, so that no test has to wait for what takes time. What is due until then is done
    /// when it is due.
    public func advance(by duration: Duration) async {
        await settle()
        let clock = side.clock
        let end = now { _ in clock.now + Int64(duration / .microseconds(1)) }
        while !now({ _ in clock.advance(to: end) }) { await settle() }
        await settle()
    }

    // MARK: What it knows

    /// The current activity of this device; nil if there is none.
    public var currentActivity: TestActivityState? {
        now { $0.broker.flatMap { broker in broker.current.flatMap(broker.known) } }.map(
            TestActivityState.init)
    }

    /// How many activities there are.
    public var activityCount: Int { now { $0.broker?.activityCount ?? 0 } }

    /// The ids of the applications that have registered.
    public var registeredApplications: [String] { now { $0.broker?.registeredApplications ?? [] } }

    /// What applications have called.
    public var calls: [Call] { now { $0.calls } }

    /// What the other device offers here; nil for nothing.
    public var offeredByPeer: TestActivityState? {
        now { (side: TestDevice) -> Broker.KnownActivity? in
            guard side.broker?.isOn == true, let peer = side.peer else { return nil }
            return peer.offered
        }.map(TestActivityState.init)
    }

    // MARK: Continuing

    /// The user continues here what the other device offers, in the application that is best for it.
    /// - Throws: what the user would be told: nothing is offered, no application continues it, or what the application
    ///   has thrown.
    public func continueActivity() async throws(HandoffError) {
        await settle()
        let side = side
        let failure = await MainLoop.start { await side.continue() }.value
        if let failure { throw HandoffError(failure) }
        await settle()
    }

    /// Another device, which has no application that is tested, continues the current activity.
    /// - Returns: what it gets.
    @discardableResult
    public func continueElsewhere(on name: String = "Another device") async throws(HandoffError)
        -> TestActivityState
    {
        await settle()
        let side = side
        let outcome = await MainLoop.start {
            () async -> Result<Broker.KnownActivity, HandoffFailure> in
            guard let broker = side.broker, let offered = broker.offered else {
                return .failure(
                    HandoffFailure(.offerWithdrawn, "No activity is offered. Make one current."))
            }
            var known: Broker.KnownActivity?
            do {
                try await side.bridge.continue(offered, on: name) { known = broker.known(offered) }
            } catch {
                return .failure(HandoffFailure(routed: error))
            }
            guard let known else {
                return .failure(
                    HandoffFailure(.offerWithdrawn, "The activity has ended meanwhile. Make one current."))
            }
            return .success(known)
        }.value
        await settle()
        do { return TestActivityState(try outcome.get()) } catch { throw HandoffError(error) }
    }

    // MARK: The main loop

    /// What `body` says of the device, now.
    private func now<Answer: Sendable>(
        _ body: @escaping @MainLoop @Sendable (TestDevice) async -> Answer
    ) -> Answer {
        let side = side
        return LoopThread.wait { await body(side) }
    }
}

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

    init(_ known: Broker.KnownActivity) {
        activityType = known.type.description
        title = known.title
        userInfo = (try? HandoffKit.UserInfo(properties: known.userInfo)) ?? [:]
        applicationID = known.applicationID.description
        needsSave = known.needsSave
        isOffered = known.isOffered
        properties = known.properties
    }
}
