// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import DBus
import Glibc
import HandoffClient
import HandoffCore
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

/// Notes on which thread a client tells something.
@MainLoop
final class Listener: HandoffClientDelegate {
    private(set) var isTold = false

    func standingChanged(_ standing: ClientStanding) {
        check(isFirstThread, "the client's delegate")
        isTold = true
    }
}

func checkClient() async {
    await MainLoop.start {
        let (client, listener) = (HandoffClient(.address("unix:path=/nonexistent")), Listener())
        client.delegate = listener
        client.start(ClientDeclaration(applicationID: "com.example.notes", activityTypes: ["t"]))
        while !listener.isTold { try? await MainLoop.sleep(for: .milliseconds(1)) }
    }.value
}
