// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("Calls that wait until the desktop entries have been read")
struct FirstReadingTests {
    private static let bridge = Caller(name: ":1.1", credentials: nil, sandbox: nil)
    private static let application = Caller(name: ":1.2", credentials: nil, sandbox: nil)
    private static let other = Caller(name: ":1.3", credentials: nil, sandbox: nil)

    @MainLoop
    private final class Session: InstalledReader, CallGate {
        var bridge: BusName? = ":1.1"
        private(set) var readings = 0
        private(set) var isOverdue = false
        /// The calls that were let through, and those that were refused, by what the test calls them.
        private(set) var ran: [String] = []
        private(set) var refused: [String] = []
        lazy var gate = FirstReading(
            self, isBridge: { [unowned self] in $0 == bridge }, next: self)

        func readInstalled() { readings += 1 }
        func useWhatIsKnownOfInstalled() { isOverdue = true }

        func concerns(_ caller: Caller) -> Bool { caller.name == bridge }
        func admit(_ call: Message, from caller: Caller, _ run: @escaping @MainLoop (DBusError?) -> Void) {
            run(nil)
        }

        func call(_ member: MemberName, from caller: Caller, _ label: String) throws {
            let message = try Message.call(
                to: HandoffNames.broker, HandoffNames.brokerPath, "org.example.Handoff.Manager", member)
            guard gate.concerns(caller) else { return ran.append(label) }
            gate.admit(message, from: caller) { [weak self] error in
                if error == nil { self?.ran.append(label) } else { self?.refused.append(label) }
            }
        }
    }

    @Test("registrations wait, with all that their connections call afterwards, in order; others do not")
    func order() async throws {
        try await onLoop {
            let session = Session()
            try session.call("Ping", from: Self.application, "before")
            #expect(session.readings == 0)
            try session.call("RegisterApplication", from: Self.application, "register")
            try session.call("CreateActivity", from: Self.application, "create")
            try session.call("Offer", from: Self.bridge, "offer")
            try session.call("Ping", from: Self.other, "other")
            #expect(session.ran == ["before", "other"] && session.readings == 1)
            session.gate.end()
            try session.call("BecomeCurrent", from: Self.application, "current")
            #expect(session.ran == ["before", "other", "register", "create", "offer", "current"])
            #expect(!session.isOverdue && session.refused.isEmpty)
        }
    }

    @Test("nobody waits for longer than two seconds: then what is known has to do")
    func overdue() async throws {
        try await onLoop {
            let session = Session()
            let begin = MainLoop.now
            try session.call("RegisterApplication", from: Self.application, "register")
            try await eventually { session.ran == ["register"] }
            #expect(session.isOverdue && (1_900_000..<15_000_000).contains(MainLoop.now - begin))
            try session.call("RegisterApplication", from: Self.other, "later")
            #expect(session.ran == ["register", "later"])
        }
    }

    @Test("who leaves the bus meanwhile is never registered")
    func vanished() async throws {
        try await onLoop {
            let session = Session()
            try session.call("RegisterApplication", from: Self.application, "register")
            try session.call("RegisterApplication", from: Self.other, "other")
            session.gate.vanished(":1.2")
            session.gate.end()
            #expect(session.ran == ["other"])
        }
    }

    @Test("only so many calls of a connection wait")
    func bounds() async throws {
        try await onLoop {
            let session = Session()
            for number in 0..<520 {
                try session.call("RegisterApplication", from: Self.application, "\(number)")
            }
            #expect(session.refused.count == 8 && !session.isOverdue)
            try session.call("RegisterApplication", from: Self.other, "other")
            session.gate.end()
            #expect(session.ran.count == 513 && session.ran.last == "other")
        }
    }

    @Test("if many connections call much, nobody else is refused, and nobody waits any longer")
    func boundsOfAll() async throws {
        try await onLoop {
            let session = Session()
            for number in 0..<512 {
                try session.call("RegisterApplication", from: Self.application, "\(number)")
                try session.call("Offer", from: Self.bridge, "offer \(number)")
            }
            #expect(session.isOverdue && session.refused.isEmpty && session.ran.count == 1024)
            try session.call("RegisterApplication", from: Self.other, "other")
            #expect(session.ran.last == "other")
        }
    }
}
