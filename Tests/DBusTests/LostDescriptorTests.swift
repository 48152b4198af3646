// SPDX-License-Identifier: LGPL-2.1-or-later
import TestSupport
import Testing

@testable import DBus

@Suite("Descriptors for which there was no number left")
struct LostDescriptorTests {
    /// A call that says that so many descriptors come with it.
    private func call(announcing count: Int) throws -> [UInt8] {
        let message = try Message.call(to: nil, "/", "a.b", "C")
        message.setSerial(1)
        let null = try OpenDescriptor.several(1)[0]
        var writer = MessageWriter(message)
        let descriptor = FileDescriptor(owning: null.number)
        for _ in 0..<count { try writer.write(descriptor) }
        return try message.marshal()
    }

    @Test("what came with them goes on without, and what follows has its own", arguments: [1, 40, 1 << 20])
    func lost(size: Int) throws {
        let opened = try OpenDescriptor.several(2)
        let calls = [try call(announcing: 2), try call(announcing: 1)]
        // The rest of the first comes with the second, as the kernel may read them.
        let rest = Array(calls[0].dropFirst(min(size, calls[0].count)))
        let cut = Cut([
            Sent(calls[0].prefix(size), [opened[0].number, Framer.lost].filter { $0 < 0 }),
            Sent(rest + calls[1], [opened[1].number]),
        ])
        #expect(cut.error == nil && cut.files == [[], [opened[1].file]])
        #expect(opened[1].file.count == 0)
    }
}
