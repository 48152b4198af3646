// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffBridge

@Suite("Types of devices")
struct DeviceTypeTests {
    @Test("every chassis has a known name or none")
    func chassis() {
        for type in -1...256 {
            let name = DeviceType.name(ofChassis: type)
            #expect(name.isEmpty || DeviceType.names.contains(name))
        }
        #expect(DeviceType.name(ofChassis: 9) == "laptop")
        #expect(DeviceType.checked("laptop") == "laptop")
        #expect(DeviceType.checked("Laptop") == "")
    }
}
