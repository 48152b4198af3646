// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("The application that the user has chosen once and for all, on the bus", .timeLimit(.minutes(1)))
struct ChosenApplicationTests {
    @Test(
        "the application that the user chooses for a type, and says so, comes first for that type from then on, over a restart, until the user forgets it"
    )
    func remembered() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let odd = "com.example [odd] = é"
            let team = ["Team": Value.string("com.example.team")]
            let origin = try await SessionClient(desk, types: [odd, editing], options: team)
            var clients: [SessionClient] = []
            for id in ["com.example.aaa", "com.example.bbb"] {
                clients.append(try await SessionClient(lap, id, types: [odd, editing], options: team))
            }
            let dock = try await SessionDock(lap)
            @MainLoop func handlers(_ path: ObjectPath) -> [String] {
                dock.offers[path]?["Handlers"]?.strings ?? []
            }
            try await origin.create(odd, ["Title": .string("One")]).becomeCurrent()
            let path = try await dock.offer("One")
            try await eventually { handlers(path).count == 2 }
            let (worse, remote) = (handlers(path)[1], dock.remote(path))
            for (options, text) in [
                ([:], "ApplicationId"), (["ApplicationId": Value.string("com.example.stranger")], ""),
            ] {
                #expect(
                    await isRefused(.invalidArguments, saying: text.isEmpty ? [] : [text]) {
                        try await remote.continue(
                            options: options.merging(["Remember": .boolean(true)]) { $1 })
                    })
            }
            #expect(try await clients[0].chosen()["Applications"] == texts([:]))
            try await remote.continue(options: ["ApplicationId": .string(worse), "Remember": .boolean(true)])
            try await eventually { dock.outcomes.map(\.application) == [worse] && handlers(path)[0] == worse }
            #expect(dock.outcomes[0].error.isEmpty)
            for times in 1...2 {
                #expect(try await clients[0].chosen()["Applications"] == texts([odd: worse]))
                let line = "com.example%20%5Bodd%5D%20%3D%20%C3%A9=\(worse)"
                #expect(try lap.file().split(separator: "\n").contains { $0 == line })
                guard times == 1 else { break }
                try await origin.create(editing, ["Title": .string("Two")]).becomeCurrent()
                let second = try await dock.offer("Two")
                #expect(handlers(second).first != worse)
                try await lap.restart()
            }
            try await clients[0].choose("Applications", try texts([:]))
            #expect(try !lap.file().contains("odd"))
        }
    }
}
