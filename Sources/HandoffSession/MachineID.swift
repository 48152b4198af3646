// SPDX-License-Identifier: LGPL-2.1-or-later
package import Platform

/// The machine as the name of a folder, for state that two machines with the same home folder must not share.
package enum MachineID {
    /// The first 16 hexadecimal digits of the SHA-256 of `handoff machine` and this machine's id, which
    /// itself must not be shown to others (machine-id(5)).
    /// - Throws: if this machine has no id.
    package static func folderName() throws(KeyFileError) -> String {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            guard let bytes = try SmallFile.read(path, maximumSize: 256) else { continue }
            let id = bytes.prefix { $0 != UInt8(ascii: "\n") }
            if let name = folderName(of: id) { return name }
        }
        throw KeyFileError(
            "This machine has no id in /etc/machine-id. Make one with systemd-machine-id-setup or dbus-uuidgen --ensure.",
            isDamage: false)
    }

    /// The folder name for a machine whose id is `id`; nil unless that is 32 lower-case hexadecimal digits.
    static func folderName(of id: some Collection<UInt8>) -> String? {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
        guard id.count == 32, id.allSatisfy(isDigit) else { return nil }
        return String(Digest.hexadecimal(Digest.sha256(Array("handoff machine".utf8) + id)).prefix(16))
    }
}
