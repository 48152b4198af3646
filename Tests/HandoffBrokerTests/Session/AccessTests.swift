// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Who may do what on the bus", .timeLimit(.minutes(1)))
struct AccessTests {
    private static let device = String(repeating: "0123456789abcdef", count: 4)
    private static let some = String(repeating: "0123456789abcdef", count: 2)

    @Test("of another client's activity one may read type, title, application and Current, and nothing else")
    func reading() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let owner = try await SessionClient(desk)
            let other = try await SessionClient(desk, Self.device)
            let activity = try await owner.create(
                "", ["Title": .string("Readable"), "UserInfo": .properties(["secret": .string("x")])])
            let object = other.object(activity.object.path)
            let readable: [String: Value] = [
                "ActivityType": .string(editing), "ApplicationId": .string(editor),
                "Current": .boolean(false), "Title": .string("Readable"),
            ]
            #expect(try await object.properties(ActivityProxy.interface) == readable)
            let listed = try await other.object(HandoffNames.brokerPath).managedObjects()
            #expect(listed[activity.object.path] == [ActivityProxy.interface.text: readable])
            let proxy = ActivityProxy(object)
            #expect(try await proxy.title() == "Readable")
            let reads: [@MainLoop () async throws -> Any] = [
                { try await proxy.userInfo() }, { try await proxy.webpageURL() },
                { try await proxy.documentURL() }, { try await proxy.delegate() },
                { try await proxy.needsSave() }, { try await proxy.keywords() },
            ]
            for read in reads { #expect(await isRefused(.accessDenied) { _ = try await read() }) }
        }
    }

    @Test("another client's activity cannot be changed or ended")
    func changing() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let activity = try await SessionClient(desk).create("", ["Title": .string("Untouched")])
            let other = try await SessionClient(desk, "com.example.other")
            let proxy = ActivityProxy(other.object(activity.object.path))
            let calls: [@MainLoop () async throws -> Void] = [
                { try await proxy.becomeCurrent() }, { try await proxy.resignCurrent() },
                { try await proxy.leaveCurrent() }, { try await proxy.becomeOpen() },
                { try await proxy.invalidate() }, { try await proxy.addUserInfoEntries(entries: [:]) },
                { try await proxy.update(properties: ["Title": .string("x")]) },
                { try await proxy.setTitle("x") }, { try await proxy.setUserInfo([:]) },
                { try await proxy.setNeedsSave(true) }, { try await proxy.setDelegate("/x") },
            ]
            for call in calls { #expect(await isRefused(.accessDenied, call)) }
            #expect(try await activity.title() == "Untouched")
        }
    }

    @Test("the continuation object is for the application that was handed the activity, and ends by itself")
    func continuation() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let (dock, answer) = (try await SessionDock(lap), Promise<Bool>())
            let other = SessionClient(unregisteredOn: lap)
            target.onContinue = { try await answer.get() }
            _ = try await origin.offer("A letter")
            try await dock.remote(try await dock.offer("A letter")).continue(options: [:])
            try await eventually { target.handed.count == 1 }
            guard case .objectPath(let path)? = target.handed[0].context["Continuation"] else {
                Issue.record("no continuation")
                return
            }
            let (own, foreign) = (
                ContinuationProxy(target.object(path)), ContinuationProxy(other.object(path))
            )
            #expect(
                try await own.object.properties(ContinuationProxy.interface) == [
                    "ActivityType": .string(editing), "DeviceId": .string("\(desk.device.id)"),
                    "DeviceName": .string("desk"), "SupportsContinuationStreams": .boolean(false),
                ])
            #expect(await isRefused(.accessDenied) { try await foreign.release() })
            #expect(await isRefused(.accessDenied) { _ = try await foreign.activityType() })
            #expect(await isRefused(.streamsNotSupported) { _ = try await own.openStream() })
            answer.keep(true)
            try await eventually { dock.outcomes.map(\.error) == [""] && origin.continued.count == 1 }
            while await !isRefused(.unknownObject, { try await own.release() }) {
                await lap.pass(.milliseconds(1))
            }
            // What it never had it has not lost.
            #expect(await isRefused(.streamsNotSupported) { _ = try await own.openStream() })
            #expect(await isRefused(.unknownObject) { _ = try await foreign.openStream() })
        }
    }

    @Test(
        "what is for the bridge alone is denied to everyone else, for real peers too, and nothing of it is listed"
    )
    func bridgeAlone() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let client = try await SessionClient(desk)
            #expect(try await client.bus.request(HandoffNames.bridge) == .taken)
            let manager = PeerManagerProxy(client.object(HandoffNames.brokerPath))
            let denied = { @MainLoop (body: @MainLoop () async throws -> Void) in
                await isRefused([.accessDenied, .unknownObject], [], body)
            }
            #expect(
                await isRefused(.accessDenied) {
                    _ = try await manager.addPeer(deviceId: Self.device, properties: [:])
                })
            #expect(await isRefused(.accessDenied) { try await manager.removePeer(deviceId: Self.device) })
            for device in ["\(lap.device.id)", Self.device] {
                let peer = PeerProxy(client.object(try HandoffNames.peers.appending(device)))
                let calls: [@MainLoop () async throws -> Void] = [
                    { try await peer.offer(activity: Self.some, summary: ["ActivityType": .string("x")]) },
                    { try await peer.withdraw(activity: Self.some) },
                    { try await peer.invite(activity: Self.some) },
                    { _ = try await peer.fetch(activity: Self.some, continuation: Self.some) },
                    { try await peer.continued(continuation: Self.some) },
                    { try await peer.release(continuation: Self.some) },
                    { _ = try await peer.openStream(continuation: Self.some) },
                    { _ = try await peer.openDocument(continuation: Self.some) },
                ]
                for call in calls { #expect(await denied(call)) }
            }
            let listed = try await client.object(HandoffNames.brokerPath).managedObjects()
            #expect(!listed.keys.contains { $0.text.contains("/peers") })
        }
    }

    @Test(
        "for a sandboxed client offers, others' activities, preferences and what peers have fetched do not exist; it reads the switch and cannot set it"
    )
    func sandboxed() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let plain = try await SessionClient(desk, "com.example.plain")
            let boxed = SessionClient(unregisteredOn: desk, in: .flatpak(application: editor))
            _ = try await SessionClient(lap, "com.example.plain").offer("Elsewhere")
            let path = try await SessionDock(desk).offer("Elsewhere")
            let secret = try await plain.offer("Secret")
            let object = boxed.object(HandoffNames.brokerPath)
            #expect(try await object.managedObjects().isEmpty)
            let hidden: Set<ErrorName> = [.unknownObject, .unknownInterface]
            let calls: [@MainLoop () async throws -> Any] = [
                { try await RemoteActivityProxy(boxed.object(path)).continue(options: [:]) },
                { try await RemoteActivityProxy(boxed.object(path)).title() },
                { try await ActivityProxy(boxed.object(secret.object.path)).title() },
                { try await boxed.manager.recentFetches() }, { try await boxed.manager.fetchesByDevice() },
                { try await boxed.manager.hiddenOffers() }, { try await boxed.chosen() },
                { try await boxed.manager.registeredApplications() },
                { try await boxed.manager.recentRefusals() },
                { try await boxed.choose("ShowUnhandledOffers", .boolean(true)) },
            ]
            for (number, call) in calls.enumerated() {
                #expect(await isRefused(hidden) { _ = try await call() }, "\(number)")
            }
            #expect(
                try await object.properties(ManagerProxy.interface).keys.sorted()
                    == ["Enabled", "MaximumUserInfoSize", "Version"])
            #expect(await isRefused(.accessDenied) { try await boxed.manager.setEnabled(false) })
            #expect(try await boxed.manager.enabled())
            let reply = try await object.call(.introspectable, "Introspect", output: "s") {
                (_) throws(DBusError) in
            }
            var reader = MessageReader(reply)
            let text: String = try reader.read()
            #expect(text.contains("<interface name=\"\(ManagerProxy.interface.text)\""))
            #expect(!text.contains("<interface name=\"\(PreferencesProxy.interface.text)\""))
        }
    }
}
