// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

/// What the sleep concerns, which takes its time to leave something with others.
@MainLoop
private final class FakeSleepOwner: SleepOwner {
    var canLeave = true
    private(set) var leavings = 0
    private(set) var wakings = 0
    /// Whether leaving takes until ``goOn()``.
    var takesItsTime = false
    private var waiting: CheckedContinuation<Void, Never>?

    func leave() async {
        leavings += 1
        if takesItsTime { await withCheckedContinuation { waiting = $0 } }
    }

    func goOn() {
        waiting?.resume()
        waiting = nil
    }

    func resumed() { wakings += 1 }
}

/// A machine whose logind says that it sleeps and wakes up.
@MainLoop
private struct SleepingMachine {
    let bus = MemoryBus()
    let owner = FakeSleepOwner()
    let sleep: Sleep
    let logind, receiver: Bus

    init() async throws {
        (logind, receiver) = (bus.connect(), bus.connect())
        guard try await logind.request("org.freedesktop.login1") == .owned else {
            throw TestFailure("the name of logind is taken")
        }
        sleep = Sleep(owner)
        sleep.busChanged(receiver)
        // Until the name of logind is known, nothing is believed of it.
        try await eventually {
            try Self.emit(logind, false)
            return owner.wakings > 0
        }
        try await deliver(from: logind)
    }

    /// The same from whomever: only the name of its sender tells one from another.
    private static func emit(_ sender: Bus, _ isAboutToSleep: Bool) throws {
        let message = try Message.signal(
            from: "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep")
        var writer = MessageWriter(message)
        try writer.write(isAboutToSleep)
        try sender.connection.send(message)
    }

    func say(_ sender: Bus, _ isAboutToSleep: Bool) async throws {
        try Self.emit(sender, isAboutToSleep)
        try await deliver(from: sender)
    }

    /// Returns when what `sender` has sent has come: an answer comes after everything that was sent before it.
    private func deliver(from sender: Bus) async throws {
        for end in [sender, receiver] { _ = try await end.request("org.example.Nobody") }
    }
}

@Suite("The sleep of the machine")
struct SleepTests {
    @Test("is believed of logind alone, each time once")
    func believed() async throws {
        try await onLoop {
            let machine = try await SleepingMachine()
            let (owner, former) = (machine.owner, machine.owner.wakings)
            let other = machine.bus.connect()
            for isAboutToSleep in [true, false] { try await machine.say(other, isAboutToSleep) }
            #expect(owner.leavings == 0 && owner.wakings == former)
            for _ in 1...2 { try await machine.say(machine.logind, true) }
            #expect(owner.leavings == 1 && owner.wakings == former && machine.sleep.isAsleep)
            try await machine.say(machine.logind, false)
            #expect(owner.wakings == former + 1 && !machine.sleep.isAsleep)
        }
    }

    @Test("that ends before everything is left ends once it is")
    func shortSleep() async throws {
        try await onLoop {
            let machine = try await SleepingMachine()
            let (owner, former) = (machine.owner, machine.owner.wakings)
            owner.takesItsTime = true
            try await machine.say(machine.logind, true)
            try await machine.say(machine.logind, false)
            #expect(owner.leavings == 1 && owner.wakings == former)
            owner.goOn()
            try await eventually { owner.wakings == former + 1 }
            #expect(!machine.sleep.isAsleep)
        }
    }
}
