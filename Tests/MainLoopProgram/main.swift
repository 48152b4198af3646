// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop
import Platform

// What the tests of MainLoop can only see from outside: where log lines go, a loop that ends, a loop on the
// main thread that gets signals.
let log = Log(domain: "main-loop-program")
let token = RunToken()

switch CommandLine.arguments.dropFirst().first {
case "log":
    Log.useStandardError()
    log.debug("a debug line")
    log.info("an info line")
    log.message("a message", ["HANDOFF_FIELD": "value"])
    log.warning("a warning")
case "verbose":
    Log.useStandardError()
    log.debug("not yet shown")
    Log.enableDebug()
    log.debug("a debug line")
case "signals":
    MainLoop.assumeIsolated {
        var terms = 0
        let hangUps = LoopSource.signal(SIGHUP) { log.message("hung up") }
        let ends = LoopSource.signal(SIGTERM) {
            terms += 1
            if terms == 2 { token.stop() }
            log.message("term \(terms)")
        }
        Log.useStandardError()
        log.message("ready")
        MainLoop.run(until: token)
        hangUps.cancel()
        ends.cancel()
    }
case "stop":
    MainLoop.start {
        try? await MainLoop.sleep(for: .milliseconds(1))
        token.stop()
    }
    MainLoop.run(until: token)
case "isolated":
    // Before the loop runs, within it, and after it.
    MainLoop.assumeIsolated { log.message("before") }
    MainLoop.start { MainLoop.assumeIsolated { token.stop() } }
    MainLoop.run(until: token)
    MainLoop.assumeIsolated { MainLoop.shared.preconditionIsolated() }
case "not isolated":
    // Another thread, once while the loop runs and once while nothing does.
    let isRunning = CommandLine.arguments.last == "running"
    try BackgroundThread.start("stranger") {
        MainLoop.assumeIsolated { _ = write(STDOUT_FILENO, "x", 1) }
        exit(0)
    }
    if isRunning { MainLoop.run(until: token) } else { while true { pause() } }
case "queue":
    MainLoop.start { await checkQueue() }
    MainLoop.run(until: token)
case "callbacks":
    MainLoop.start { await checkCallbacks() }
    MainLoop.run(until: token)
case "accounts":
    MainLoop.start { await checkAccounts() }
    MainLoop.run(until: token)
default: exit(2)
}
