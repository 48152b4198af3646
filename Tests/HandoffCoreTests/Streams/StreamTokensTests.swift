// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Tokens of streams")
struct StreamTokensTests {
    private let device: DeviceID

    init() throws { device = try Example.device(1) }

    private func token(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: StreamTokens.size) }

    @Test("a token is good for one connection within ten seconds")
    func once() throws {
        var tokens = StreamTokens()
        let first = try tokens.issue(token(1), to: device, over: 1, at: .at(0))
        let second = try tokens.issue(token(2), to: device, over: 1, at: .at(5_000))
        #expect(tokens.claim(at: .at(9_000)) { $0.token == token(1) } == first)
        #expect(tokens.claim(at: .at(9_000)) { $0.token == token(1) } == nil)
        #expect(tokens.claim(at: .at(9_000)) { $0.token == token(3) } == nil)
        #expect(tokens.nextDeadline == .at(15_000))
        #expect(tokens.claim(at: .at(15_000)) { $0.token == token(2) } == nil)
        #expect(tokens.advance(to: .at(15_000)) == [second])
        #expect(tokens.nextDeadline == nil)
    }

    @Test("every token is compared, whichever is shown")
    func comparisons() throws {
        var tokens = StreamTokens()
        for number: UInt8 in 1...5 { _ = try tokens.issue(token(number), to: device, over: 1, at: .at(0)) }
        var compared = 0
        _ = tokens.claim(at: .at(1_000)) {
            compared += 1
            return $0.token == token(1)
        }
        #expect(compared == 5)
    }

    @Test("a device has eighteen at most, of which those count that are still good")
    func limit() throws {
        var tokens = StreamTokens()
        for number: UInt8 in 1...18 { _ = try tokens.issue(token(number), to: device, over: 1, at: .at(0)) }
        #expect(
            code { _ = try tokens.issue(token(21), to: device, over: 2, at: .at(1_000)) } == .limitsExceeded)
        _ = try tokens.issue(token(22), to: try Example.device(2), over: 3, at: .at(1_000))
        _ = tokens.claim(at: .at(1_000)) { $0.token == token(4) }
        _ = try tokens.issue(token(19), to: device, over: 1, at: .at(2_000))
        _ = try tokens.issue(token(20), to: device, over: 1, at: .at(10_000))
    }

    @Test("a token ends with its link, and when it is not wanted any more")
    func endings() throws {
        var tokens = StreamTokens()
        let first = try tokens.issue(token(1), to: device, over: 1, at: .at(0))
        let second = try tokens.issue(token(2), to: device, over: 2, at: .at(0))
        #expect(tokens.linkEnded(1) == [first])
        #expect(tokens.claim(at: .at(0)) { $0.token == token(1) } == nil)
        tokens.revoke(second)
        #expect(tokens.claim(at: .at(0)) { $0.token == token(2) } == nil)
        #expect(tokens.nextDeadline == nil)
    }
}
