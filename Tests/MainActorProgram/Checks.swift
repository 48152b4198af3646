// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import DBus
import Glibc
import HandoffClient
import HandoffCore
import HandoffKit
import MainLoop

/// Ends the program with an error unless `condition` is true.
func check(_ condition: Bool, _ what: String) {
    if condition { return }
    print("not as it should be: \(what)")
    exit(1)
}

/// Whether the caller is on the first thread of the process.
var isFirstThread: Bool { handoff_gettid() == getpid() }

/// Code of the main actor, as applications have it.
@MainActor
func checkActor() async {
    var strange = 0
    for _ in 0..<10_000 {
        await Task.yield()
        if !isFirstThread { strange += 1 }
    }
    check(strange == 0, "\(strange) of 10,000 yields ended on another thread")
    var sum = 0
    for number in 0..<1000 {
        sum += await Task.detached { number }.value
        if !isFirstThread { strange += 1 }
    }
    check(sum == 499_500 && strange == 0, "1,000 detached tasks: \(sum), \(strange)")
    let begin = MainLoop.now
    try? await Task.sleep(for: .milliseconds(20))
    check(isFirstThread && MainLoop.now - begin >= 20_000, "Task.sleep")
    let thread = await MainLoop.start { handoff_gettid() }.value
    check(thread == getpid() && isFirstThread, "the main loop, or what follows it")
}

/// Notes on which thread it is told what.
@MainActor
final class Receiver: HandoffBackendReceiver {
    private(set) var standings: [HandoffStanding] = []
    private var waiting: CheckedContinuation<Void, Never>?

    func standingChanged(_ standing: HandoffStanding) {
        check(isFirstThread, "the kit's receiver")
        standings.append(standing)
        waiting?.resume()
        waiting = nil
    }

    /// Waits for the first standing.
    func wait() async {
        if standings.isEmpty { await withCheckedContinuation { waiting = $0 } }
    }

    func currentChanged(_ number: ActivityNumber, _ isCurrent: Bool) {}
    func needsSaveChanged(_ number: ActivityNumber, _ needsSave: Bool) {}
    func created(_ number: ActivityNumber, type: String) {}
    func refused(_ number: ActivityNumber, _ failure: HandoffFailure, restored: [String: Value?]) {}
    func willSave(_ number: ActivityNumber) async throws -> [String: Value] { [:] }
    func wasContinued(_ number: ActivityNumber, on device: ContinuationDevice) {}
    func didReceiveStream(_ number: ActivityNumber, _ descriptor: CInt) { close(descriptor) }
    func willContinue(
        _ number: ContinuationNumber, type: String, from device: ContinuationDevice
    ) async -> Bool { false }
    func continueActivity(
        _ number: ContinuationNumber, _ activity: [String: Value], from device: ContinuationDevice,
        activationToken: String
    ) async throws -> Bool { false }
    func didFailToContinue(_ number: ContinuationNumber?, type: String, _ failure: HandoffFailure) {}
}

/// Notes on which thread a client tells something.
@MainLoop
final class Listener: HandoffClientDelegate {
    private(set) var isTold = false

    func standingChanged(_ standing: ClientStanding) {
        check(isFirstThread, "the client's delegate")
        isTold = true
    }
}

@MainActor
func checkKit() async {
    let (backend, receiver) = (BusBackend(.address("unix:path=/nonexistent")), Receiver())
    backend.receiver = receiver
    backend.start(ApplicationDeclaration(id: "com.example.notes", activityTypes: ["t"]))
    await receiver.wait()
    check(receiver.standings == [.absent], "\(receiver.standings)")
    await MainLoop.start {
        let (client, listener) = (HandoffClient(.address("unix:path=/nonexistent")), Listener())
        client.delegate = listener
        client.start(ClientDeclaration(applicationID: "com.example.notes", activityTypes: ["t"]))
        while !listener.isTold { try? await MainLoop.sleep(for: .milliseconds(1)) }
    }.value
}
