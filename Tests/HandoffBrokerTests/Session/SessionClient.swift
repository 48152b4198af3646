// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport

@testable import HandoffTesting

/// The names of the application that most tests have.
let editor = "com.example.editor"
let editing = "com.example.editor.edit"

/// Two linked devices within this process, with their brokers.
@MainLoop
func linkedDevices() async throws -> (desk: TestDevice, lap: TestDevice) {
    let (desk, lap) = (try await oneDevice("desk"), try await oneDevice("lap"))
    TestDevice.link(desk, lap)
    return (desk, lap)
}

/// A device within this process, with its broker, and a bridge unless a test has one of its own.
@MainLoop
func oneDevice(_ name: String = "desk", hasBridge: Bool = true) async throws -> TestDevice {
    var generator = SystemRandomNumberGenerator()
    let device = TestDevice(TestPeer(id: DeviceID(using: &generator), name: name))
    await device.start()
    if hasBridge { try await device.bridge.begin() }
    return device
}

extension TestDevice {
    /// Lets so much time pass for its broker, and does what is due when it is due.
    func pass(_ time: Duration) async {
        clock.stop()
        let end = clock.now + Int64(time / .microseconds(1))
        while !clock.advance(to: end) { for _ in 0..<200 { await Task.yield() } }
        for _ in 0..<200 { await Task.yield() }
    }
}

/// An application on the bus of a device, which writes down what it is called.
@MainLoop
final class SessionClient: ApplicationServer, ActivityDelegateServer {
    let bus: Bus
    let id: String
    var types: [String]
    private let options: [String: Value]
    /// The members that it was called with, in order.
    private(set) var calls: [String] = []
    /// The activities that it was asked to save, with the object that was asked.
    private(set) var saves: [(activity: ObjectPath, asked: ObjectPath?)] = []
    /// The contexts of what was said to be coming.
    private(set) var announced: [[String: Value]] = []
    /// What it was handed.
    private(set) var handed: [(activity: [String: Value], context: [String: Value])] = []
    /// The errors that it was told of instead of an activity.
    private(set) var failures: [String] = []
    /// Where its activities were continued.
    private(set) var continued: [(activity: ObjectPath, device: [String: Value])] = []
    /// Its ends of the streams that others have opened, in the order in which they came.
    private(set) var streams: [SessionStream] = []
    /// The members that it does not have.
    var missing: Set<String> = []
    /// What it was told of its own activities' properties.
    private(set) var changes: [[String: Value]] = []
    var onWillSave: @MainLoop (ObjectPath) async throws -> [String: Value] = { _ in [:] }
    var onWillContinue: @MainLoop () async throws -> Bool = { false }
    var onContinue: @MainLoop () async throws -> Bool = { true }

    static let path: ObjectPath = "/com/example/client"
    /// Kept for as long as anybody uses it.
    private let device: TestDevice
    private var token: SignalToken?

    /// One that has not registered.
    init(
        unregisteredOn device: TestDevice, _ id: String = editor, types: [String] = [editing],
        options: [String: Value] = [:], in sandbox: Sandbox? = nil
    ) {
        self.device = device
        bus = device.bus.connect(in: sandbox)
        (self.id, self.types, self.options) = (id, types, options)
        bus.connection.policy = AllowAll()
        for path in [Self.path, "/delegate"] as [ObjectPath] {
            bus.connection.objects.export(path, [ApplicationBinding(self), ActivityDelegateBinding(self)])
            // Its objects keep it, and it its device, until then.
            TestEnds.add { [bus] in bus.connection.objects.unexport(path) }
        }
        token = bus.connection.onSignal(.properties, "PropertiesChanged") { [weak self] signal in
            var reader = MessageReader(signal)
            guard let _: String = try? reader.read(), let changed: [String: Value] = try? reader.read() else {
                return
            }
            self?.changes.append(changed)
        }
    }

    /// One that has registered.
    convenience init(
        _ device: TestDevice, _ id: String = editor, types: [String] = [editing],
        options: [String: Value] = [:], in sandbox: Sandbox? = nil
    ) async throws {
        self.init(unregisteredOn: device, id, types: types, options: options, in: sandbox)
        try await register()
    }

    var manager: ManagerProxy { ManagerProxy(object(HandoffNames.brokerPath)) }

    func object(_ path: ObjectPath) -> RemoteObject {
        RemoteObject(bus.connection, HandoffNames.broker, path)
    }

    /// Registers, perhaps otherwise than it was to.
    func register(
        as id: String? = nil, at path: ObjectPath = path, options: [String: Value]? = nil
    ) async throws {
        try await manager.registerApplication(
            applicationId: id ?? self.id, activityTypes: types, application: path,
            options: options ?? self.options)
    }

    func create(_ type: String = "", _ properties: [String: Value] = [:]) async throws -> ActivityProxy {
        ActivityProxy(
            object(try await manager.createActivity(activityType: type, properties: properties)))
    }

    /// Makes an activity and makes it current.
    func offer(_ title: String, _ properties: [String: Value] = [:]) async throws -> ActivityProxy {
        let activity = try await create("", properties.merging(["Title": .string(title)]) { $1 })
        try await activity.becomeCurrent()
        return activity
    }

    /// Forgets what it was told of properties.
    func forget() { changes = [] }

    func count(_ member: String) -> Int { calls.count { $0 == member } }

    // MARK: What the broker calls

    func willContinueActivity(
        activityType: String, context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        try called("WillContinueActivity")
        announced.append(context)
        return try await onWillContinue()
    }

    func continueActivity(
        activity: [String: Value], context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        try called("ContinueActivity")
        handed.append((activity, context))
        return try await onContinue()
    }

    func didFailToContinueActivity(
        activityType: String, errorName: String, errorMessage: String, _ call: MethodCall
    ) throws {
        try called("DidFailToContinueActivity")
        failures.append(errorName)
    }

    func willSave(activity: ObjectPath, _ call: MethodCall) async throws -> [String: Value] {
        try called("WillSave")
        saves.append((activity, call.message.path))
        return try await onWillSave(activity)
    }

    func wasContinued(activity: ObjectPath, device: [String: Value], _ call: MethodCall) throws {
        try called("WasContinued")
        continued.append((activity, device))
    }

    func didReceiveStream(
        activity: ObjectPath, stream: consuming FileDescriptor, _ call: MethodCall
    ) throws {
        try called("DidReceiveStream")
        streams.append(SessionStream(stream))
    }

    private func called(_ member: String) throws {
        guard !missing.contains(member) else {
            throw DBusError(.unknownMethod, "It does not have \(member).")
        }
        calls.append(member)
    }
}

/// Never answers, or when no test waits for it any more.
@MainLoop
func hang<Answer>() async throws -> Answer {
    try await MainLoop.sleep(for: .seconds(60))
    throw TimedOut(description: "The answer has never come.")
}

/// Whoever shows offers on a device, and has them continued.
@MainLoop
final class SessionDock {
    /// What is offered, by path.
    private(set) var offers: [ObjectPath: [String: Value]] = [:]
    /// What was told, e.g. `InterfacesAdded`.
    private(set) var events: [String] = []
    /// The outcomes of what was continued: the application, and the name and the message of the error.
    private(set) var outcomes: [(application: String, error: String, message: String)] = []

    private let bus: Bus
    private var tokens: [SignalToken] = []
    private static let interface = RemoteActivityProxy.interface.text

    init(_ device: TestDevice) async throws {
        bus = device.bus.connect()
        for member in ["InterfacesAdded", "InterfacesRemoved"] as [MemberName] {
            tokens.append(
                bus.connection.onSignal(.objectManager, member) { [weak self] in self?.objects(member, $0) })
        }
        tokens.append(
            bus.connection.onSignal(.properties, "PropertiesChanged") { [weak self] in self?.changed($0) })
        tokens.append(
            bus.connection.onSignal(RemoteActivityProxy.interface, RemoteActivityContinueFinished.member) {
                [weak self] in
                guard let finished = try? RemoteActivityContinueFinished($0) else { return }
                self?.events.append("ContinueFinished")
                self?.outcomes.append((finished.applicationId, finished.errorName, finished.message))
            })
        for (path, interfaces) in try await object(HandoffNames.brokerPath).managedObjects() {
            offers[path] = interfaces[Self.interface]
        }
    }

    var titles: [String] { offers.values.compactMap { $0["Title"]?.string }.sorted() }

    private func object(_ path: ObjectPath) -> RemoteObject {
        RemoteObject(bus.connection, HandoffNames.broker, path)
    }

    /// Where `title` is offered, as soon as it is.
    func offer(
        _ title: String, file: StaticString = #fileID, line: UInt = #line
    ) async throws -> ObjectPath {
        try await eventually(file: file, line: line) { titles.contains(title) }
        return offers.first { $0.value["Title"]?.string == title }?.key ?? .root
    }

    func remote(_ path: ObjectPath) -> RemoteActivityProxy { RemoteActivityProxy(object(path)) }

    /// Has it continued, and waits for the outcome.
    func `continue`(_ title: String, in application: String? = nil) async throws {
        let before = outcomes.count
        let options = application.map { ["ApplicationId": Value.string($0)] } ?? [:]
        try await remote(try await offer(title)).continue(options: options)
        try await eventually { outcomes.count > before }
    }

    private func objects(_ member: MemberName, _ signal: Message) {
        var reader = MessageReader(signal)
        guard let path: ObjectPath = try? reader.read() else { return }
        if member == "InterfacesRemoved" {
            guard offers.removeValue(forKey: path) != nil else { return }
        } else {
            guard let interfaces: [String: [String: Value]] = try? reader.read(),
                let offer = interfaces[Self.interface]
            else { return }
            offers[path] = offer
        }
        events.append(member.text)
    }

    private func changed(_ signal: Message) {
        var reader = MessageReader(signal)
        guard let interface: String = try? reader.read(), interface == Self.interface, let path = signal.path,
            let new: [String: Value] = try? reader.read()
        else { return }
        offers[path]?.merge(new) { $1 }
        events.append("PropertiesChanged")
    }
}

/// Whether `body` is refused with this error, whose message has all of `texts`.
@MainLoop
func isRefused(
    _ code: HandoffFailure.Code, saying texts: [String] = [], _ body: @MainLoop () async throws -> Void
) async -> Bool {
    await isRefused([code.errorName], texts, body)
}

/// Whether `body` is refused with one of these errors, whose message has all of `texts`.
@MainLoop
func isRefused(
    _ names: Set<ErrorName>, _ texts: [String] = [], _ body: @MainLoop () async throws -> Void
) async -> Bool {
    do { try await body() } catch {
        let error = DBusError.converting(error)
        return names.contains(error.name) && texts.allSatisfy { error.message.contains($0) }
    }
    return false
}
