// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import DBus

@Suite("Who may do what on a bus")
struct BusAccessPolicyTests {
    /// Who calls.
    enum Who: String, CaseIterable {
        case stranger = ":1.1"
        case owner = ":1.2"
        case bridge = ":1.3"
        case broker = ":1.4"
        case agent = ":1.5"
        case device
    }

    /// What the policy says.
    enum Word: Equatable { case allow, deny, hide }

    @MainLoop
    private static func ask(
        _ access: AccessClass, _ who: Who, isSandboxed: Bool, hasDaemons: Bool = true,
        seesSandboxes: Bool = true
    ) throws -> AccessDecision {
        let policy = BusAccessPolicy()
        policy.seesSandboxes = seesSandboxes
        if hasDaemons {
            policy.nameOwners = [
                .bridge: try BusName(Who.bridge.rawValue), .broker: try BusName(Who.broker.rawValue),
                .agent: try BusName(Who.agent.rawValue),
            ]
        }
        let caller =
            who == .device
            ? Caller(label: "device")
            : Caller(
                name: try BusName(who.rawValue), credentials: nil, sandbox: isSandboxed ? .unknown : nil)
        let object = ExportedObject(
            "/a", [], owner: try BusName(Who.owner.rawValue), access: nil, isListed: true)
        return policy.decide(
            AccessRequest(caller: caller, object: object, interface: "a.B", member: "C", access: access))
    }

    private static func word(_ decision: AccessDecision) -> Word {
        switch decision {
        case .allow: .allow
        case .deny: .deny
        case .hide: .hide
        }
    }

    private static let onBus: Set<Who> = [.stranger, .owner, .bridge, .broker, .agent]

    /// Each class and who may, unsandboxed and sandboxed.
    private static let table: [(AccessClass, unsandboxed: Set<Who>, sandboxed: Set<Who>)] = [
        (.any, onBus, onBus),
        (.owner, [.owner], [.owner]),
        (.unsandboxed, onBus, [.owner]),
        (.bridge, [.bridge], []), (.broker, [.broker], []), (.agent, [.agent], []),
        (.stranger, [], []), (.paired, [], []), (.routed, [], []), ("of another time", [], []),
    ]

    @Test("within a sandbox, where nobody can be examined, the bus's word on who owns a daemon's name counts")
    func withinSandbox() async throws {
        try await onLoop {
            for who in Who.allCases {
                let decision = try Self.ask(.broker, who, isSandboxed: true, seesSandboxes: false)
                #expect((Self.word(decision) == .allow) == (who == .broker))
            }
            let decision = try Self.ask(.unsandboxed, .stranger, isSandboxed: true, seesSandboxes: false)
            #expect(Self.word(decision) == .hide)
        }
    }

    @Test("each class lets in who is of it; a sandbox does not know of the rest, all others are told")
    func classes() async throws {
        try await onLoop {
            for (access, unsandboxed, sandboxed) in Self.table {
                for who in Who.allCases {
                    let plain = Self.word(try Self.ask(access, who, isSandboxed: false))
                    #expect(plain == (unsandboxed.contains(who) ? .allow : .deny), "\(access) \(who)")
                    guard who != .device else { continue }
                    let boxed = Self.word(try Self.ask(access, who, isSandboxed: true))
                    #expect(
                        boxed == (sandboxed.contains(who) ? .allow : .hide), "\(access) \(who), sandboxed")
                }
            }
        }
    }

    @Test("without an owner of its name, nobody is the bridge, the broker or the agent")
    func absent() async throws {
        try await onLoop {
            for who in Who.allCases {
                for access in [AccessClass.bridge, .broker, .agent] {
                    let decision = try Self.ask(access, who, isSandboxed: false, hasDaemons: false)
                    #expect(Self.word(decision) == .deny)
                }
            }
        }
    }

    @Test("the refusal says what was asked for, of whom, who asked and what to do")
    func message() async throws {
        try await onLoop {
            guard case .deny(let error) = try Self.ask(.bridge, .stranger, isSandboxed: false) else {
                return #expect(Bool(false), "it is not denied")
            }
            #expect(error.name == .accessDenied)
            for part in ["a.B.C", "/a", ":1.1", "org.example.Handoff.Bridge", "GetManagedObjects"] {
                #expect(error.message.contains(part), "\(error.message)")
            }
        }
    }

    @Test("an adapter's policy finds out who owns the agent's name, and no other")
    func agentAlone() async throws {
        try await onLoop {
            let bus = MemoryBus()
            let (watching, both) = (bus.connect(), bus.connect())
            let policy = BusAccessPolicy(bus: watching, watching: [.agent])
            _ = try await both.request(HandoffNames.broker)
            _ = try await both.request(HandoffNames.agent)
            try await eventually { policy.nameOwners[.agent] == both.uniqueName }
            #expect(policy.nameOwners[.broker] == nil)
            try await both.release(HandoffNames.agent)
            try await eventually { policy.nameOwners[.agent] == nil }
            withExtendedLifetime(watching) {}
        }
    }

    @Test("who owns the daemons' names is found out on the bus, and forgotten when they are given up")
    func names() async throws {
        try await onLoop {
            let bus = MemoryBus()
            let (watching, bridge) = (bus.connect(), bus.connect())
            let policy = BusAccessPolicy(bus: watching)
            _ = try await bridge.request(HandoffNames.bridge)
            try await eventually { policy.nameOwners[.bridge] == bridge.uniqueName }
            #expect(policy.nameOwners[.broker] == nil)
            try await bridge.release(HandoffNames.bridge)
            try await eventually { policy.nameOwners[.bridge] == nil }
            withExtendedLifetime(watching) {}
        }
    }
}
