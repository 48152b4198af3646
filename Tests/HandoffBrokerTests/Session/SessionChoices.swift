// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Foundation
import HandoffInterfaces
import MainLoop

@testable import HandoffTesting

/// What the user chooses, and where that is kept.
extension SessionClient {
    /// Chooses `value`, of whatever type, for a preference.
    func choose(_ preference: String, _ value: Value) async throws {
        let object = object(HandoffNames.brokerPath)
        _ = try await object.call(.properties, "Set", output: "") { (writer) throws(DBusError) in
            try writer.write(PreferencesProxy.interface.text)
            try writer.write(preference)
            try writer.write(value)
        }
    }

    /// Keeps these applications out, and no others.
    func exclude(_ applications: String...) async throws {
        try await choose("ExcludedApplications", .strings(applications))
    }

    /// Everything that is chosen.
    func chosen() async throws -> [String: Value] {
        try await object(HandoffNames.brokerPath).properties(PreferencesProxy.interface)
    }
}

extension TestDevice {
    /// What is in the configuration file.
    func file() throws -> String { try String(contentsOfFile: configuration, encoding: .utf8) }

    /// The broker begins anew, perhaps after somebody has put something else into the configuration file.
    func restart(with text: String? = nil) async throws {
        stop()
        try text?.write(toFile: configuration, atomically: true, encoding: .utf8)
        await start()
    }
}

/// `a{ss}`
func texts(_ entries: KeyValuePairs<String, String>) throws -> Value {
    try .dictionary(
        key: "s", value: "s", entries.map { (key: .string($0.key), value: .string($0.value)) })
}
