// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What clients have the broker keep")
struct ClientHoldingsTests {
    private var holdings = ClientHoldings()

    /// Fills `connection` with activities of `size` bytes until one is refused, and returns how many there
    /// are.
    private mutating func fill(_ connection: String, size: Int) -> Int {
        var count = 0
        while (try? holdings.begin(size, of: connection)) != nil { count += 1 }
        return count
    }

    @Test("a connection has 8 MiB, a process 16, and all together 64")
    mutating func payload() {
        let size = 128 << 10
        for number in 0..<12 { holdings.joined(":1.\(number)", process: UInt32(number / 3)) }
        #expect(fill(":1.0", size: size) == 64)
        #expect(fill(":1.1", size: size) == 64)
        #expect(fill(":1.2", size: size) == 0)
        #expect((3..<12).map { fill(":1.\($0)", size: size) } == [64, 64, 0, 64, 64, 0, 64, 64, 0])
        #expect(holdings.total == 64 << 20)
        holdings.joined(":1.99", process: 99)
        #expect(fill(":1.99", size: 1) == 0)
        holdings.end(size, of: ":1.0")
        #expect(fill(":1.99", size: size) == 1)
    }

    @Test("what is refused says how much there is, how much is allowed, and what to do")
    mutating func messages() {
        holdings.joined(":1.1", process: 1)
        let error = #expect(throws: HandoffFailure.self) { try holdings.begin(9 << 20, of: ":1.1") }
        #expect(error?.code == .limitsExceeded)
        for text in ["\(9 << 20)", "\(8 << 20)", "Invalidate"] {
            #expect(error?.message.contains(text) == true)
        }
        #expect(holdings.total == 0)
    }

    @Test("a process has four times the activities and types of a connection")
    mutating func counts() {
        for number in 0..<6 { holdings.joined(":1.\(number)", process: 7) }
        for number in 0..<256 {
            #expect(throws: Never.self) { try holdings.begin(1, of: ":1.\(number % 5)") }
        }
        #expect(throws: HandoffFailure.self) { try holdings.begin(1, of: ":1.5") }
        holdings.end(1, of: ":1.0")
        #expect(throws: Never.self) { try holdings.begin(1, of: ":1.5") }
        let all = ClientHoldings.Declared(types: 256, bytes: 1000)
        for number in 0..<4 { #expect(throws: Never.self) { try holdings.declare(all, of: ":1.\(number)") } }
        #expect(throws: HandoffFailure.self) {
            try holdings.declare(ClientHoldings.Declared(types: 1, bytes: 1), of: ":1.5")
        }
        // This declaration replaces the one before, and is smaller.
        #expect(throws: Never.self) { try holdings.declare(all, of: ":1.0") }
        #expect(throws: Never.self) { try holdings.declare(ClientHoldings.Declared(), of: ":1.0") }
        #expect(throws: Never.self) { try holdings.declare(all, of: ":1.5") }
    }

    @Test("connections whose process is not known count as those of one")
    mutating func unknownProcess() {
        for number in 0..<3 { holdings.joined(":1.\(number)", process: nil) }
        holdings.joined(":1.9", process: 0)
        #expect((0..<3).map { fill(":1.\($0)", size: 1 << 20) } == [8, 8, 0])
        #expect(holdings.relatives(of: ":1.0") == [":1.0", ":1.1", ":1.2"])
        #expect(holdings.relatives(of: ":1.9") == [":1.9"] && holdings.relatives(of: ":1.8") == [":1.8"])
    }

    @Test("a small activity counts as what it takes besides")
    mutating func smallOnes() {
        holdings.joined(":1.1", process: 1)
        #expect(throws: Never.self) { try holdings.begin(0, of: ":1.1") }
        #expect(holdings.total == Quota.smallestActivity)
        #expect(throws: Never.self) { try holdings.change(from: 0, to: 3000, of: ":1.1") }
        #expect(holdings.total == 3000)
        holdings.end(3000, of: ":1.1")
        #expect(holdings.total == 0)
    }

    @Test("whatever happens, all is counted, nothing twice, and no limit is passed", arguments: 0..<20)
    func everything(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var holdings = ClientHoldings()
        // What there is: the process of each connection, the sizes of its activities, and what it declares.
        var clients: [String: (process: UInt32, sizes: [Int], declared: ClientHoldings.Declared)] = [:]
        for _ in 0..<4000 {
            let connection = ":1.\(Int.random(in: 0..<24, using: &random))"
            guard let client = clients[connection] else {
                let process = UInt32.random(in: 0..<6, using: &random)
                holdings.joined(connection, process: process)
                clients[connection] = (process, [], ClientHoldings.Declared())
                continue
            }
            let size = Int.random(in: 0..<600_000, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                for size in client.sizes { holdings.end(size, of: connection) }
                holdings.left(connection)
                clients[connection] = nil
            case 1..<4:
                let declared = ClientHoldings.Declared(
                    types: Int.random(in: 0...256, using: &random), bytes: size / 10)
                if (try? holdings.declare(declared, of: connection)) != nil {
                    clients[connection]?.declared = declared
                }
            case 4..<8 where !client.sizes.isEmpty:
                holdings.end(client.sizes[0], of: connection)
                clients[connection]?.sizes.removeFirst()
            case 8..<12 where !client.sizes.isEmpty:
                let former = client.sizes[0]
                let hasChanged = (try? holdings.change(from: former, to: size, of: connection)) != nil
                #expect(hasChanged || size > former)
                if hasChanged { clients[connection]?.sizes[0] = size }
            default:
                if (try? holdings.begin(size, of: connection)) != nil {
                    clients[connection]?.sizes.append(size)
                }
            }
            let payloads = clients.mapValues { $0.sizes.reduce(0) { $0 + ClientHoldings.cost($1) } }
            let declared = clients.values.reduce(0) { $0 + $1.declared.bytes }
            #expect(
                holdings.total == payloads.values.reduce(declared, +) && holdings.total <= Quota.payloadOfAll)
            #expect(payloads.values.allSatisfy { $0 <= Quota.payload })
            let relatives = holdings.relatives(of: connection)
            #expect(relatives.reduce(0) { $0 + (payloads[$1] ?? 0) } <= Quota.payloadOfProcess)
            #expect(
                relatives.reduce(0) { $0 + (clients[$1]?.declared.types ?? 0) } <= Quota.types
                    * Quota.processes)
        }
    }
}
