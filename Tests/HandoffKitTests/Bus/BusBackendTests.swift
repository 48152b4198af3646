// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffCore
import HandoffKit
import MainLoop
import TestSupport
import Testing

/// Writes down what the backend tells, on the main actor.
@MainActor
private final class KitRecorder: HandoffBackendReceiver {
    private(set) var events: [String] = []
    private(set) var restored: [[String: Value?]] = []
    private var waiting: [(String, CheckedContinuation<Void, Never>)] = []

    /// Waits until `event` has happened.
    func wait(for event: String) async {
        if events.contains(event) { return }
        await withCheckedContinuation { waiting.append((event, $0)) }
    }

    private func note(_ event: String) {
        events.append(event)
        let due = waiting.filter { $0.0 == event }
        waiting.removeAll { $0.0 == event }
        for one in due { one.1.resume() }
    }

    func standingChanged(_ standing: HandoffStanding) { note("\(standing)") }
    func currentChanged(_ number: ActivityNumber, _ isCurrent: Bool) {
        note("\(number.value) \(isCurrent ? "current" : "not current")")
    }
    func needsSaveChanged(_ number: ActivityNumber, _ needsSave: Bool) { note("needs save: \(needsSave)") }
    func created(_ number: ActivityNumber, type: String) { note("\(number.value) is of \(type)") }
    func refused(_ number: ActivityNumber, _ failure: HandoffFailure, restored: [String: Value?]) {
        self.restored.append(restored)
        note("\(number.value) refused: \(failure.code) \(restored.keys.sorted())")
    }
    func willSave(_ number: ActivityNumber) async throws -> [String: Value] {
        note("save")
        await Task.yield()
        return ["Title": .string("saved")]
    }
    func wasContinued(_ number: ActivityNumber, on device: ContinuationDevice) {}
    func didReceiveStream(_ number: ActivityNumber, _ descriptor: CInt) {}
    func willContinue(
        _ number: ContinuationNumber, type: String, from device: ContinuationDevice
    ) async -> Bool { false }
    func continueActivity(
        _ number: ContinuationNumber, _ activity: [String: Value], from device: ContinuationDevice,
        activationToken: String
    ) async throws -> Bool { false }
    func didFailToContinue(_ number: ContinuationNumber?, type: String, _ failure: HandoffFailure) {}
}

@Suite("The kit on the session's broker", .serialized, .timeLimit(.minutes(2)))
@MainActor
struct BusBackendTests {
    private static let declaration = ApplicationDeclaration(
        id: "com.example.notes", activityTypes: ["com.example.notes.edit"])

    /// A backend on the bus at `address`, and who hears of it.
    private static func backend(_ address: String) -> (BusBackend, KitRecorder) {
        let (backend, recorder) = (BusBackend(.address(address)), KitRecorder())
        backend.receiver = recorder
        backend.start(declaration)
        return (backend, recorder)
    }

    @Test("what is called in order takes effect in order, and what happens comes back in order")
    func order() async throws {
        let session = try await onLoop { try await BrokerSession.start() }
        let (backend, recorder) = Self.backend(session.address)
        await recorder.wait(for: "registered")
        for number in 1...20 as ClosedRange<UInt64> {
            backend.create(ActivityNumber(number), type: "", properties: [:])
            backend.becomeCurrent(ActivityNumber(number))
            await recorder.wait(for: "\(number) current")
        }
        var expected = ["registered", "1 current"]
        for number in 2...20 { expected += ["\(number - 1) not current", "\(number) current"] }
        #expect(recorder.events.filter { !$0.contains(" is of ") } == expected)
        await recorder.wait(for: "20 is of com.example.notes.edit")
        backend.invalidate(ActivityNumber(20))
        backend.stop()
    }

    @Test("a question of the broker is answered on the main actor; a refusal is told there")
    func asking() async throws {
        let session = try await onLoop { try await BrokerSession.start() }
        let (backend, recorder) = Self.backend(session.address)
        backend.create(ActivityNumber(1), type: "", properties: ["NeedsSave": .boolean(true)])
        backend.becomeCurrent(ActivityNumber(1))
        await recorder.wait(for: "save")
        await recorder.wait(for: "needs save: false")
        backend.create(ActivityNumber(2), type: "com.example.undeclared", properties: [:])
        await recorder.wait(for: "2 refused: typeNotDeclared []")
    }

    @Test(
        "the activity has the type that the broker has chosen, and properties that are refused their former values"
    )
    func chosen() async throws {
        let session = try await onLoop { try await BrokerSession.start() }
        let (backend, recorder) = Self.backend(session.address)
        backend.create(ActivityNumber(1), type: "", properties: ["WebpageURL": .string("https://a.example/")])
        await recorder.wait(for: "1 is of com.example.notes.edit")
        backend.update(ActivityNumber(1), ["WebpageURL": .string("ftp://a.example/"), "Title": .string("t")])
        await recorder.wait(for: "1 refused: invalidURL [\"WebpageURL\"]")
        #expect(recorder.restored == [["WebpageURL": .string("https://a.example/")]])
    }

    @Test("a refusal does not take back what is on its way to the broker")
    func newer() async throws {
        let session = try await onLoop { try await BrokerSession.start() }
        let (backend, recorder) = Self.backend(session.address)
        backend.create(ActivityNumber(1), type: "t", properties: [:])
        await recorder.wait(for: "1 refused: typeNotDeclared []")
        backend.create(ActivityNumber(2), type: "", properties: [:])
        await recorder.wait(for: "2 is of com.example.notes.edit")
        let refused = "2 refused: invalidURL []"
        for pause in [300_000, 1_000_000, 4_000_000] as [UInt32] where !recorder.events.contains(refused) {
            backend.update(ActivityNumber(2), ["WebpageURL": .string("ftp://b.example/")])
            await Task.yield()
            // Meanwhile the refusal comes as far as to the main loop, which is another thread here; or, if that is busy, both
            // updates become one, of which nothing is refused.
            usleep(pause)
            backend.update(ActivityNumber(2), ["WebpageURL": .string("https://b.example/")])
            for _ in 0..<100 where !recorder.events.contains(refused) {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        #expect(recorder.events.contains(refused))
    }

    @Test("a timer of the main loop calls the main actor, unless it is cancelled")
    func timers() async throws {
        let session = try await onLoop { try await BrokerSession.start() }
        let (backend, recorder) = Self.backend(session.address)
        let cancelled = backend.timer(after: .milliseconds(10)) { Issue.record("it was cancelled") }
        cancelled.cancel()
        await withCheckedContinuation { continuation in
            _ = backend.timer(after: .milliseconds(50)) { continuation.resume() }
        }
        withExtendedLifetime(recorder) {}
    }

    @Test(
        "a broker that dies is not refused anything, and a stream of one of its continuations cannot be had")
    func dying() async throws {
        let session = try await onLoop { try await BrokerSession.start() }
        let (backend, recorder) = Self.backend(session.address)
        await recorder.wait(for: "registered")
        try await onLoop { session.kill() }
        await recorder.wait(for: "absent")
        await #expect(throws: HandoffFailure.self) { try await backend.openStream(ContinuationNumber(1)) }
        #expect(recorder.events == ["registered", "absent"])
    }

    @Test("a thousand setters in one turn of the main actor are one Update")
    func oneUpdate() async throws {
        let session = try await onLoop { try await BrokerSession.start() }
        let (backend, recorder) = Self.backend(session.address)
        backend.create(ActivityNumber(1), type: "", properties: [:])
        backend.becomeCurrent(ActivityNumber(1))
        await recorder.wait(for: "1 current")
        let monitor = try await onLoop {
            let monitor = try ChildProcess([
                "dbus-monitor", "--address", session.address,
                "type='method_call',interface='org.example.Handoff.Activity'",
            ])
            try await eventually { monitor.output.contains("NameLost") }
            return monitor
        }
        for number in 0..<1000 {
            backend.update(ActivityNumber(1), ["Title": .string("\(number)")])
        }
        backend.resignCurrent(ActivityNumber(1))
        await recorder.wait(for: "1 not current")
        let updates = try await onLoop {
            try await eventually { monitor.output.contains("member=ResignCurrent") }
            monitor.send(signal: 15)
            return monitor.output.split(separator: "\n").filter { $0.contains("member=Update") }.count
        }
        #expect(updates == 1)
    }
}
