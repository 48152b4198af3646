// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// The kind of a device, named as machine-info(5) names a chassis.
enum DeviceType {
    /// The names that are known. Any other counts as unknown, and becomes empty.
    static let names: Set<String> = [
        "desktop", "laptop", "convertible", "server", "tablet", "handset", "watch", "embedded", "vm",
        "container",
    ]

    /// `text` if it is one of ``names``, else empty.
    static func checked(_ text: String) -> String { names.contains(text) ? text : "" }

    /// The kind of this device: what machine-info says, otherwise what the firmware says; empty if neither
    /// says anything.
    static func ofThisMachine() -> String {
        let named = checked(MachineInformation.value(of: "CHASSIS") ?? "")
        if !named.isEmpty { return named }
        let bytes = (try? SmallFile.read("/sys/class/dmi/id/chassis_type", maximumSize: 4096)) ?? nil
        let text = String(decoding: bytes ?? [], as: UTF8.self)
        return Int(text.prefix { $0.isNumber }).map { name(ofChassis: $0) } ?? ""
    }

    /// The name of a chassis type of SMBIOS (System Management BIOS Reference Specification, section 7.4.1).
    static func name(ofChassis type: Int) -> String {
        switch type {
        case 0x03, 0x04, 0x05, 0x06, 0x07, 0x0D, 0x18, 0x23, 0x24: "desktop"
        case 0x08, 0x09, 0x0A, 0x0E: "laptop"
        case 0x0B: "handset"
        case 0x11, 0x17, 0x1C, 0x1D: "server"
        case 0x1E: "tablet"
        case 0x1F, 0x20: "convertible"
        case 0x21, 0x22: "embedded"
        default: ""
        }
    }
}
