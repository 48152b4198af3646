// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBroker

@Suite("What is remembered of what others had kept for this device")
struct KeptMemoryTests {
    @Test("outlives the broker, and nonsense in the file is left out")
    func memory() throws {
        let entry = KeptForUs.Entry(
            device: try Sample.device(1), activity: try Sample.offer().id, invitedAt: 7, isSettled: true)
        #expect(KeptMemory.decode(KeptMemory.encode([entry])) == [entry])
        for nonsense in ["", "[x]\nDevice=y\n", "[\(entry.activity)]\nDevice=y\n", "\u{0}["] {
            #expect(KeptMemory.decode(Array(nonsense.utf8)).isEmpty)
        }
    }
}
