// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffBroker
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Adapters, and the applications that they stand for, on the bus", .timeLimit(.minutes(1)))
struct AdapterRegistrationTests {
    private static let other = "com.example.other"
    private static let team = ["Team": Value.string("com.example")]

    /// An adapter, which keeps what the broker sends it.
    @MainLoop
    private final class Adapter {
        let client: SessionClient
        /// The members of the signals that were sent to it alone.
        private(set) var signals: [String] = []
        /// Why its registration has ended.
        private(set) var endings: [String] = []
        private var token: SignalToken?

        init(_ device: TestDevice, _ id: String = editor, _ options: [String: Value] = [:]) async throws {
            client = SessionClient(
                unregisteredOn: device, id, options: options.merging(["Adapter": .boolean(true)]) { $1 })
            token = client.bus.connection.onSignal(
                ManagerProxy.interface, ManagerRegistrationEnded.member
            ) { [weak self] in
                guard let ended = try? ManagerRegistrationEnded($0) else { return }
                self?.endings.append(ended.reason)
            }
            let (name, former) = (client.bus.uniqueName.text, device.bus.onMessage)
            device.bus.onMessage = { [weak self] message in
                former?(message)
                if message.kind == .signal, message.destination == name, let member = message.member {
                    self?.signals.append(member)
                }
            }
            try await client.register()
        }

        func ending() async throws -> String {
            try await eventually { !endings.isEmpty }
            return endings[0]
        }
    }

    @Test(
        "an application that registers itself replaces its adapter: what the adapter had is over, it is told why, that is the last that it is sent, and the application continues"
    )
    func replaced() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (adapter, other) = (try await Adapter(desk), try await Adapter(desk, Self.other))
            let (peer, dock) = (try await SessionClient(lap), try await SessionDock(lap))
            _ = try await adapter.client.object(HandoffNames.brokerPath).managedObjects()
            let activity = try await adapter.client.offer("Of the adapter")
            _ = try await dock.offer("Of the adapter")
            let application = try await SessionClient(desk)
            let reason = try await adapter.ending()
            #expect(reason.contains("\(editor) has registered itself") && reason.contains("step back"))
            try await eventually { dock.offers.isEmpty }
            // What happens afterwards is not its business.
            let calls = adapter.client.calls
            try await application.offer("Of the application").resignCurrent()
            _ = try await peer.offer("Back")
            let own = try await SessionDock(desk)
            try await own.continue("Back")
            #expect(own.outcomes.map(\.error) == [""] && application.handed.count == 1)
            #expect(await isRefused(.unknownObject, saying: [reason]) { _ = try await activity.title() })
            #expect(
                await isRefused(.notRegistered, saying: [reason, editor]) {
                    _ = try await adapter.client.create()
                })
            #expect(adapter.signals.last == "RegistrationEnded" && adapter.endings.count == 1)
            #expect(adapter.client.calls == calls && other.endings.isEmpty)
            _ = try await other.client.create()
        }
    }

    @Test(
        "a continuation that an adapter was about to get when it was replaced fails and says so, once; the next one goes to the application"
    )
    func replacedMeanwhile() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let adapter = try await Adapter(lap)
            let (origin, dock) = (try await SessionClient(desk), try await SessionDock(lap))
            desk.clock.stop()
            adapter.client.onWillContinue = { try await hang() }
            origin.onWillSave = { _ in try await hang() }
            _ = try await origin.offer("A film")
            try await dock.remote(try await dock.offer("A film")).continue(options: [:])
            try await eventually { adapter.client.calls == ["WillContinueActivity"] }
            let application = try await SessionClient(lap)
            try await eventually { dock.outcomes.count == 1 }
            #expect(dock.outcomes[0].application == editor)
            #expect(dock.outcomes[0].error == HandoffFailure.Code.applicationFailed.errorName.text)
            _ = try await adapter.ending()
            origin.onWillSave = { _ in [:] }
            await desk.pass(.seconds(2))
            try await dock.continue("A film")
            #expect(dock.outcomes.map(\.error).last == "" && application.handed.count == 1)
            #expect(adapter.client.calls == ["WillContinueActivity"])
            #expect(adapter.signals.last == "RegistrationEnded" && dock.outcomes.count == 2)
        }
    }

    @Test(
        "while the application is registered, whether it receives or not, its adapter is refused and told why; once the application has left, the adapter may register again",
        arguments: [true, false], [true, false])
    func refused(receives: Bool, leavesBus: Bool) async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let application = try await SessionClient(lap, options: ["Receives": .boolean(receives)])
            let adapter = try await Adapter(lap, Self.other)
            let client = adapter.client
            for _ in 1...3 {
                #expect(
                    await isRefused(.notSupported, saying: ["\(editor) has registered itself", "step back"]) {
                        try await client.register(as: editor)
                    })
            }
            // What it was registered as before, it still is.
            try await client.create().invalidate()
            #expect(adapter.signals.isEmpty)
            if leavesBus {
                application.bus.leave()
                try await eventually { lap.broker?.registeredApplications == [Self.other] }
            } else {
                try await application.manager.unregisterApplication()
            }
            try await client.register(as: editor)
            _ = try await SessionClient(desk).offer("A film")
            let dock = try await SessionDock(lap)
            try await dock.continue("A film")
            #expect(dock.outcomes.map(\.error) == [""] && client.handed.count == 1)
        }
    }

    @Test(
        "a connection that was an adapter and registers as the application itself, or the other way round, keeps its activities"
    )
    func both() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let adapter = try await Adapter(desk)
            let activity = try await adapter.client.offer("Mine")
            for isAdapter in [false, true] {
                try await adapter.client.register(options: ["Adapter": .boolean(isAdapter)])
                #expect(try await activity.current())
            }
            await desk.pass(.seconds(1))
            #expect(adapter.endings.isEmpty)
        }
    }

    @Test(
        "an adapter of an excluded application is kept out like the application, and gives way to it all the same"
    )
    func excluded() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (peer, dock) = (try await SessionClient(lap), try await SessionDock(lap))
            try await SessionClient(unregisteredOn: desk).exclude(editor)
            let adapter = try await Adapter(desk)
            #expect(try await adapter.client.offer("Secret").current())
            for device in [desk, lap] { await device.pass(.seconds(1)) }
            let application = try await SessionClient(desk)
            #expect(try await adapter.ending().contains("has registered itself"))
            #expect(await isRefused(.notSupported) { try await adapter.client.register() })
            _ = try await application.offer("Secret too")
            for device in [desk, lap] { await device.pass(.seconds(1)) }
            #expect(dock.events.isEmpty)
            try await application.exclude()
            _ = try await dock.offer("Secret too")
            withExtendedLifetime(peer) {}
        }
    }

    @Test(
        "among those that run, applications come before adapters, but an adapter of the origin's application comes first; of several adapters of one id the latest continues"
    )
    func order() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let origin = try await SessionClient(desk, options: Self.team)
            _ = try await origin.offer("A film")
            let native = try await SessionClient(lap, "com.example.aaa", options: Self.team)
            var adapters: [Adapter] = []
            for id in ["com.example.bbb", "com.example.ccc"] {
                adapters.append(try await Adapter(lap, id, Self.team))
            }
            let dock = try await SessionDock(lap)
            let path = try await dock.offer("A film")
            let others = ["com.example.aaa", "com.example.ccc", "com.example.bbb"]
            try await eventually { dock.offers[path]?["Handlers"] == .strings(others) }
            for _ in 1...2 { adapters.append(try await Adapter(lap, editor, Self.team)) }
            try await eventually { dock.offers[path]?["Handlers"] == .strings([editor] + others) }
            try await dock.continue("A film")
            #expect(dock.outcomes.map(\.application) == [editor] && dock.outcomes.map(\.error) == [""])
            #expect(adapters.map { $0.client.handed.count } == [0, 0, 0, 1])
            withExtendedLifetime(native) {}
        }
    }
}
