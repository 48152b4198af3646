// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import HandoffKit
import MainLoop

// What the tests can only see from outside: a program whose loop is GLib's, and whose main actor it runs.
let token = RunToken()

MainActor.assumeIsolated {
    MainActorSource.attach()
    MainActorSource.attach()
}
Task {
    await checkActor()
    await checkKit()
    print("done")
    fflush(nil)
    // Whoever wants to see it idle does so now.
    if CommandLine.arguments.last != "idle" { token.stop() }
}
MainLoop.run(until: token)
