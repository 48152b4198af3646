// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("What is open at a peer, on the bus", .timeLimit(.minutes(1)))
struct EverythingTests {
    /// Two devices, at the first of which so many activities are open.
    @MainLoop
    private struct Devices {
        let desk: TestDevice
        let lap: TestDevice
        let origin: SessionClient
        let target: SessionClient
        let dock: SessionDock
        private let titles: [String]

        init(_ titles: String...) async throws {
            self.titles = titles
            (desk, lap) = try await linkedDevices()
            (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            for title in titles {
                let activity = try await origin.offer(title)
                // The one used last is listed first.
                await desk.pass(.seconds(1))
                withExtendedLifetime(activity) {}
            }
            dock = try await SessionDock(lap)
            _ = try await dock.offer(titles.last ?? "")
        }

        /// What is open there, the latest used first.
        func list() async throws -> [ObjectPath] {
            try await lap.bridge.manager().listActivities(deviceId: desk.bridge.device.id.description)
        }

        func continueAll(_ paths: [ObjectPath]) async throws -> ContinueAllProxy {
            ContinueAllProxy(
                target.object(try await target.manager.continueAll(activities: paths, options: [:])))
        }
    }

    /// How many were continued and how many were not, once all are over.
    private func counts(_ all: ContinueAllProxy) async throws -> [UInt32] {
        while true {
            let counts = [try await all.done(), try await all.failed()]
            if counts[0] + counts[1] == (try await all.total()) { return counts }
            try await MainLoop.sleep(for: .milliseconds(1))
        }
    }

    private func states(_ all: ContinueAllProxy) async throws -> [String] {
        try await all.results().compactMap { $0["State"]?.string }
    }

    @Test(
        "what is listed lasts for a minute after it was listed last, and what has become of a choice for a minute, too"
    )
    func minute() async throws {
        try await onLoop {
            let devices = try await Devices("Letter", "Note", "Sheet")
            let lap = devices.lap
            lap.clock.stop()
            for _ in 1...2 {
                let paths = try await devices.list()
                #expect(paths.count == 3)
                await devices.desk.pass(.seconds(59))
                await lap.pass(.seconds(59))
                for path in paths { _ = try await devices.dock.remote(path).title() }
            }
            let last = try await devices.list()[2]
            let all = try await devices.continueAll([last])
            #expect(try await counts(all) == [1, 0])
            await lap.pass(.seconds(59))
            #expect(try await states(all) == ["continued"])
            await lap.pass(.seconds(2))
            #expect(await isRefused(.unknownObject) { _ = try await all.done() })
            #expect(await isRefused(.unknownObject) { _ = try await devices.dock.remote(last).title() })
        }
    }

    /// Where a continuation is when it is cancelled.
    enum Step: CaseIterable { case announced, saved, handed }

    @Test(
        "wherever two are that are cancelled, each is continued once or reported, and the third never begins",
        arguments: Step.allCases)
    func cancelled(_ step: Step) async throws {
        try await onLoop {
            let devices = try await Devices("Letter", "Note", "Sheet")
            let (origin, target, answer) = (devices.origin, devices.target, Promise<Bool>())
            for device in [devices.desk, devices.lap] { device.clock.stop() }
            let member: String
            switch step {
            case .announced:
                target.onWillContinue = { try await answer.get() }
                // Fetched meanwhile, it could be handed over at once.
                origin.onWillSave = { _ in try await hang() }
                member = "WillContinueActivity"
            case .saved:
                origin.onWillSave = { _ in try await hang() }
                member = "WillContinueActivity"
            case .handed:
                target.onContinue = { try await answer.get() }
                member = "ContinueActivity"
            }
            let all = try await devices.continueAll(try await devices.list())
            try await eventually { target.count(member) == 2 }
            if step == .saved { try await eventually { origin.count("WillSave") == 2 } }
            try await all.cancel()
            answer.keep(true)
            let continued = step == .handed ? 2 : 0
            #expect(try await counts(all) == [UInt32(continued), UInt32(3 - continued)])
            #expect(target.count("WillContinueActivity") == 2)
            #expect(target.count("ContinueActivity") == continued && target.failures.count == 2 - continued)
            try await eventually { origin.continued.count == continued }
            // What was not continued can be.
            if continued == 0 {
                origin.onWillSave = { _ in [:] }
                await devices.desk.pass(.seconds(2))
                try await devices.dock.continue("Sheet")
                #expect(devices.dock.outcomes.last?.error == "")
            }
        }
    }

    @Test(
        "what is of no device that is known is reported beside what is continued; where all applications are excluded each is reported"
    )
    func several() async throws {
        try await onLoop {
            let devices = try await Devices("Letter", "Note")
            let paths = try await devices.list()
            let unknown = try ObjectPath(
                "\(HandoffNames.remote)/\(String(repeating: "a", count: 64))/\(String(repeating: "b", count: 32))"
            )
            let all = try await devices.continueAll(paths + [unknown])
            #expect(try await counts(all) == [2, 1])
            try await PreferencesProxy(devices.target.object(HandoffNames.brokerPath))
                .setExcludedApplications([editor])
            let none = try await devices.continueAll(paths)
            #expect(try await counts(none) == [0, 2])
            #expect(devices.target.count("ContinueActivity") == 2)
            for result in try await none.results() {
                #expect(result["ErrorName"] == .string(HandoffFailure.Code.noApplication.errorName.text))
            }
        }
    }
}
