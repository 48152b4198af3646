// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffSession

@Suite("The machine")
struct MachineIDTests {
    @Test("the folder of a machine is named after its id, but does not tell it")
    func machine() throws {
        let name = try #require(MachineID.folderName(of: "0123456789abcdef0123456789abcdef".utf8))
        #expect(name == "d7eb5f2e86c544cb")
        for id in [
            "", "0123456789abcdef0123456789abcde", "0123456789ABCDEF0123456789ABCDEF", "uninitialized",
        ] {
            #expect(MachineID.folderName(of: id.utf8) == nil)
        }
    }
}
