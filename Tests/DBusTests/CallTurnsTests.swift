// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop
import TestSupport
import Testing

@testable import DBus

/// A channel to nobody, with callers who are what their names say.
@MainLoop
private final class Crowd: MessageChannel, Directory {
    var isCrowded = false { didSet { if !isCrowded { CallTurns.shared.goOn() } } }
    private(set) var errors: [ErrorName] = []
    /// How many calls were answered.
    private(set) var answered = 0
    private(set) lazy var connection = Connection(self)
    private var lines: [BusName: CallLine] = [:]
    private var serial: UInt32 = 0
    private let areKnown: Bool

    /// Callers who are known from the beginning, or not before ``identify(_:)``.
    init(_ binding: any InterfaceBinding, areKnown: Bool = true) {
        self.areKnown = areKnown
        connection.directory = self
        connection.policy = allowAll
        connection.objects.export("/", [binding])
    }

    private let allowAll = AllowAll()

    func send(_ message: Message) -> UInt32 {
        if let error = message.error { errors.append(error.name) } else { answered += 1 }
        serial += 1
        return serial
    }

    /// Asks `sender` something, and calls `body` with the answer.
    func ask(_ sender: BusName, _ body: @escaping @MainLoop () -> Void) async throws {
        let former = serial
        let question = try Message.call(to: sender, "/", "org.example.Slow", "Ask")
        MainLoop.start { [connection] in
            guard (try? await connection.call(question)) != nil else { return }
            body()
        }
        try await eventually { serial > former }
    }

    func line(of sender: BusName?) -> CallLine? {
        guard let sender else { return nil }
        if let line = lines[sender] { return line }
        let line = CallLine(areKnown ? Caller(name: sender, credentials: nil, sandbox: nil) : nil)
        lines[sender] = line
        return line
    }

    func identify(_ sender: BusName) {
        line(of: sender)?.identify(Caller(name: sender, credentials: nil, sandbox: nil))
    }

    func knownLine(of sender: BusName?) -> CallLine? { sender.flatMap { lines[$0] } }

    /// `sender` calls, or signals, with a number.
    func says(_ number: UInt32, _ sender: BusName, isCall: Bool = true) throws {
        connection.received(try message(number, sender, isCall: isCall))
        CallTurns.shared.goOn()
    }

    /// A call is served, here and now.
    func serve(_ number: UInt32, _ sender: BusName) throws {
        guard let line = line(of: sender), let caller = line.caller else { return }
        let call = try message(number, sender, isCall: true)
        line.opened(call)
        connection.begin(call, from: caller, in: line)
    }

    private func message(_ number: UInt32, _ sender: BusName, isCall: Bool) throws -> Message {
        let message =
            isCall
            ? try Message.call(to: nil, "/", "org.example.Slow", "Note")
            : try Message.signal(from: "/", "org.example.Slow", "Told")
        var writer = MessageWriter(message)
        try writer.write(number)
        message.setSerial(number)
        return try arrived(message, from: sender)
    }

    /// `sender` answers what was asked last, or what has this number.
    func answers(_ sender: BusName, to number: UInt32? = nil) throws {
        let question = try Messages.call(serial: number ?? serial)
        connection.received(try arrived(Message.reply(to: question), from: sender))
        CallTurns.shared.goOn()
    }

    private func arrived(_ message: Message, from sender: BusName) throws -> Message {
        if message.serial == 0 { message.setSerial(1) }
        let arrived = try Messages.sent(message)
        arrived.origin = sender
        return arrived
    }
}

/// Notes what it is called with, which takes so many microseconds.
@MainLoop
private final class Slow: InterfaceBinding {
    private(set) var numbers: [UInt32] = []
    /// How long the longest call has taken, in microseconds.
    private(set) var longest: Int64 = 0
    /// How long a call takes, in microseconds.
    private let time: Int64

    init(_ time: Int64 = 5000) { self.time = time }

    static let description = InterfaceDescription(
        name: "org.example.Slow", methods: [.init(name: "Note", input: "u", access: "any")],
        properties: [], xml: "")

    func note(_ message: Message) throws {
        var reader = MessageReader(message)
        note(try reader.read())
    }

    func note(_ number: UInt32) { numbers.append(number) }

    func handle(_ method: Int, _ call: MethodCall) throws -> Message {
        try note(call.message)
        let begin = MainLoop.now
        while MainLoop.now < begin + time {}
        defer { longest = max(longest, MainLoop.now - begin) }
        return try call.reply()
    }

    func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError) {}
    func write(_ property: Int, from reader: inout MessageReader, _ call: MethodCall) throws {}
}

// All senders have their turns together: one test at a time, so that none hides from another what is waited for.
@Suite("The turns of callers", .serialized, .timeLimit(.minutes(1)))
struct CallTurnsTests {
    @Test("whoever has used least time is next, and what one sender says stays in order")
    func turns() async throws {
        try await onLoop {
            var slow: Slow
            repeat {
                slow = Slow()
                let crowd = Crowd(slow)
                let token = crowd.connection.onSignal("org.example.Slow") { [slow] in try? slow.note($0) }
                for number in 1...4 as ClosedRange<UInt32> { try crowd.says(number, ":1.1") }
                try crowd.says(5, ":1.1", isCall: false)
                try crowd.says(6, ":1.1")
                for number in 11...12 as ClosedRange<UInt32> { try crowd.says(number, ":1.2") }
                try await eventually { [slow] in slow.numbers.count == 8 }
                withExtendedLifetime(token) {}
                #expect(slow.numbers.filter { $0 < 10 } == [1, 2, 3, 4, 5, 6])
                // Whoever had a turn while another process had the processor has used more than the others.
            } while slow.longest > 7000
            #expect(slow.numbers.firstIndex(of: 11) ?? 9 < 2 && slow.numbers.firstIndex(of: 12) ?? 9 < 4)
        }
    }

    @Test("a thousand calls that wait for nothing are answered where they are served: no task begins")
    func synchronous() async throws {
        try await onLoop {
            let quick = Slow(0)
            let crowd = Crowd(quick)
            // What a task does would come after this.
            for number in 1...1000 as ClosedRange<UInt32> { try crowd.serve(number, ":1.1") }
            #expect(crowd.answered == 1000 && quick.numbers == Array(1...1000))
        }
    }

    @Test("what a gate held back is not overtaken by what its sender calls once the gate is open")
    func gate() async throws {
        final class Gate: CallGate {
            var held: [@MainLoop (DBusError?) -> Void] = []
            var isOpen = false
            func concerns(_ caller: Caller) -> Bool { !isOpen }
            func admit(
                _ call: Message, from caller: Caller, _ run: @escaping @MainLoop (DBusError?) -> Void
            ) {
                held.append(run)
            }
        }
        try await onLoop {
            let (quick, gate) = (Slow(0), Gate())
            let crowd = Crowd(quick)
            crowd.connection.gate = gate
            for number in 1...2 as ClosedRange<UInt32> { try crowd.serve(number, ":1.1") }
            gate.isOpen = true
            for run in gate.held { run(nil) }
            try crowd.serve(3, ":1.1")
            try crowd.serve(11, ":1.2")
            try await eventually { quick.numbers.count == 4 }
            #expect(quick.numbers == [11, 1, 2, 3])
        }
    }

    @Test(
        "of what somebody tells by a bus while its calls wait, no more is kept than 4 MiB, and replies to no call are not"
    )
    func news() async throws {
        try await onLoop {
            let quick = Slow(0)
            let crowd = Crowd(quick)
            let token = crowd.connection.onSignal("org.example.Slow") { try? quick.note($0) }
            // As long as what is to be sent waits, no call has its turn.
            crowd.isCrowded = true
            try crowd.says(1, ":1.1")
            for number in 2...10_000 as ClosedRange<UInt32> { try crowd.says(number, ":1.1", isCall: false) }
            for number in 1...10_000 as ClosedRange<UInt32> { try crowd.answers(":1.1", to: number) }
            try crowd.says(20_000, ":1.1")
            crowd.isCrowded = false
            try await eventually { quick.numbers.last == 20_000 }
            withExtendedLifetime(token) {}
            #expect(quick.numbers.count < 5000 && quick.numbers.prefix(3) == [1, 2, 3])
        }
    }

    @Test("what one sender tells and answers is not overtaken by what it calls next")
    func overtaking() async throws {
        try await onLoop {
            let slow = Slow()
            let crowd = Crowd(slow)
            let token = crowd.connection.onSignal("org.example.Slow") { try? slow.note($0) }
            // The other one has used more time.
            crowd.line(of: ":1.2")?.used(1_000_000)
            _ = crowd.line(of: ":1.1")
            try await crowd.ask(":1.1") { slow.note(2) }
            try crowd.says(11, ":1.2")
            try crowd.says(1, ":1.1", isCall: false)
            try crowd.answers(":1.1")
            try crowd.says(3, ":1.1")
            try await eventually { slow.numbers.count == 4 }
            withExtendedLifetime(token) {}
            // Who is next of two depends on what the other tests have used.
            #expect(slow.numbers.filter { $0 != 11 } == [1, 2, 3])
        }
    }

    @Test("what somebody says before it is known who that is takes effect in order")
    func unknown() async throws {
        try await onLoop {
            let slow = Slow()
            let crowd = Crowd(slow, areKnown: false)
            let token = crowd.connection.onSignal("org.example.Slow") { try? slow.note($0) }
            try await crowd.ask(":1.1") { slow.note(3) }
            try crowd.says(1, ":1.1")
            try crowd.says(2, ":1.1", isCall: false)
            try crowd.answers(":1.1")
            try crowd.says(4, ":1.1")
            crowd.identify(":1.1")
            try await eventually { slow.numbers.count == 4 }
            withExtendedLifetime(token) {}
            #expect(slow.numbers == [1, 2, 3, 4])
        }
    }

    @Test("what has had its turn is not kept while more waits")
    func release() async throws {
        try await onLoop {
            let (line, crowd) = (CallLine(nil), Crowd(Slow()))
            for number in 1...3 as ClosedRange<UInt32> {
                CallTurns.shared.wait(try Messages.call(serial: number), in: line, on: crowd.connection)
            }
            weak var first: Message?
            if case .message(let message, _, _) = line.removeFirst() {
                CallTurns.shared.forget(message)
                first = message
            }
            #expect(first == nil && !line.isEmpty)
        }
    }

    @Test("nothing is served while much waits to be sent, and all of it once that has left")
    func crowding() async throws {
        try await onLoop {
            let slow = Slow()
            let crowd = Crowd(slow)
            crowd.isCrowded = true
            for number in 1...3 as ClosedRange<UInt32> { try crowd.says(number, ":1.1") }
            try await MainLoop.sleep(for: .milliseconds(20))
            let before = slow.numbers
            crowd.isCrowded = false
            try await eventually { slow.numbers.count == 3 }
            #expect(before.isEmpty && slow.numbers == [1, 2, 3])
        }
    }

    @Test("of one sender so much is taken that others have room, and the rest is refused")
    func limits() async throws {
        try await onLoop {
            let slow = Slow()
            let crowd = Crowd(slow)
            crowd.isCrowded = true
            for number in 1...17_000 as ClosedRange<UInt32> { try crowd.says(number, ":1.1") }
            #expect(crowd.errors.count == 17_000 - 16_384)
            #expect(crowd.errors.allSatisfy { $0 == .limitsExceeded })
            try crowd.says(20_000, ":1.2")
            #expect(crowd.errors.count == 17_000 - 16_384)
            crowd.line(of: ":1.1")?.leave {}
        }
    }

    /// How long it takes until `count` calls are served, of so many senders, who have all called before the first is served.
    @MainLoop
    private func time(of count: UInt32, by senders: UInt32) async throws -> Duration {
        let quick = Slow(0)
        let crowd = Crowd(quick)
        crowd.isCrowded = true
        for number in 0..<count { try crowd.says(number, BusName(":1.\(number % senders)")) }
        let begin = ContinuousClock.now
        crowd.isCrowded = false
        try await eventually { quick.numbers.count == count }
        return ContinuousClock.now - begin
    }

    @Test("a call of one of ten thousand senders costs hardly more than one of ten")
    func senders() async throws {
        try await onLoop {
            _ = try await time(of: 1000, by: 10)
            let few = try await time(of: 10_000, by: 10)
            let many = try await time(of: 10_000, by: 10_000)
            #expect(many < few * 4 + .milliseconds(100))
        }
    }
}
