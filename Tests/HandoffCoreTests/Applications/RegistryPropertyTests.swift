// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Registered applications, whatever happens")
struct RegistryPropertyTests {
    private static let names = ["notes", "writer", "viewer"]
    private static let types = ["edit", "view", "print"]
    private static let teams = [nil, "com.example", "com.other"]

    private func types(_ generator: inout SeededGenerator) throws -> [ActivityType] {
        try Self.types.filter { _ in Bool.random(using: &generator) }.map { try Example.type($0) }
    }

    private func team(_ generator: inout SeededGenerator) throws -> Team? {
        try Self.teams[Int.random(in: 0..<3, using: &generator)].map { try Team($0) }
    }

    private func step(
        _ registry: inout Registry, _ own: inout [String: Registration], _ generator: inout SeededGenerator
    ) throws {
        let connection = ":1.\(Int.random(in: 0...3, using: &generator))"
        switch Int.random(in: 0..<6, using: &generator) {
        case 0..<3:
            let name = Self.names[Int.random(in: 0..<3, using: &generator)]
            let registration = Registration(
                connection: connection, applicationID: try Example.application(name),
                team: try team(&generator),
                declaration: Declaration(activityTypes: try types(&generator)), objectPath: "/")
            try registry.register(registration)
            own[connection] = registration
        case 3:
            registry.remove(connection)
            own[connection] = nil
        default:
            let installed = try Self.names.filter { _ in Bool.random(using: &generator) }.map { name in
                InstalledApplication(
                    try Example.application(name), team: try team(&generator),
                    declaration: Declaration(activityTypes: try types(&generator)),
                    start: [nil, .bus, .program].randomElement(using: &generator) ?? nil)
            }
            _ = registry.setInstalled(installed)
        }
    }

    @Test(
        "handlers declare the type and are of the team, running or to be started, the origin's own first",
        arguments: 1...40)
    func handlers(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var registry = Registry()
        var own: [String: Registration] = [:]
        let offer = try Example.offer()
        for _ in 0..<200 {
            try step(&registry, &own, &generator)
            let handlers = registry.handlers(for: offer).map(\.id)
            #expect(Set(handlers).count == handlers.count)
            #expect(!handlers.dropFirst().contains(offer.applicationID))
            for id in handlers {
                let running = own.keys.compactMap { registry.registration(of: $0) }
                    .contains { $0.applicationID == id && $0.team == offer.team && $0.declares(offer.type) }
                let entry = registry.installed[id]
                let activatable =
                    entry.map {
                        $0.start != nil && ($0.team ?? Team(id)) == offer.team
                            && $0.declaration.types.contains(offer.type)
                    } ?? false
                #expect(running || activatable)
                if let connection = registry.connection(for: id, continuing: offer) {
                    #expect(registry.registration(of: connection)?.applicationID == id)
                }
            }
        }
    }

    @Test("what desktop entries have added goes with them, and what was registered stays", arguments: 1...40)
    func restored(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var registry = Registry()
        var own: [String: Registration] = [:]
        for _ in 0..<100 {
            try step(&registry, &own, &generator)
            for (connection, registration) in own {
                let types = registry.registration(of: connection)?.declaration.types ?? []
                #expect(types.starts(with: registration.declaration.types))
            }
        }
        _ = registry.setInstalled([])
        for (connection, registration) in own {
            #expect(registry.registration(of: connection) == registration)
        }
    }
}
