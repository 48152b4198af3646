// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffKit
import Testing

@Suite("User info")
struct UserInfoTests {
    @Test("literals make values of their types")
    func literals() {
        let info: UserInfo = ["name": "Ada", "age": 36, "here": true]
        #expect(info["name"] == .string("Ada"))
        #expect(info["age"] == .int64(36))
        #expect(info["here"] == .boolean(true))
    }
}
