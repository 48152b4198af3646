// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import HandoffKit
import MainLoop

// What the tests can only see from outside: a program whose loop is GLib's, and whose main actor it runs. With `idle` it
// stays when it has done everything; with `kit` it uses the kit alone, which must not begin anything that wakes up later;
// with `session` it is an application whose session ends.
let token = RunToken()

MainActor.assumeIsolated {
    MainActorSource.attach()
    MainActorSource.attach()
}
let mode = CommandLine.arguments.last
if mode == "session" { MainActor.assumeIsolated { outliveSession() } }
Task {
    if mode == "kit" {
        await useKit()
    } else {
        await checkActor()
        await checkClient()
    }
    print("done")
    fflush(nil)
    // Whoever wants to see it at rest does so now.
    if mode != "idle", mode != "kit" { token.stop() }
}
MainLoop.run(until: token)
