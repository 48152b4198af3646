// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Knows again, over the end of the broker, what peers had kept for this device: in a key file with a group for each, so that
/// nothing is continued twice whose device has not heard of it.
@MainLoop
final class KeptMemory {
    private let file: RememberedFile?

    /// The file at `path`; nil if there is to be none.
    init(_ path: String? = try? "\(HandoffDirectories.state())/\(HandoffDirectories.keptName)") {
        file = path.map { RememberedFile($0, "What was continued of what others had kept for this device") }
    }

    /// Reads the file, and calls `body` with what it says.
    func read(_ body: @escaping @MainLoop @Sendable ([KeptForUs.Entry]) -> Void) {
        file?.read(Self.decode, body)
    }

    /// Writes `entries` to the file.
    func keep(_ entries: [KeptForUs.Entry]) { file?.write { Self.encode(entries) } }

    private enum Key {
        static let (device, invited, settled) = ("Device", "Invited", "Settled")
    }

    /// The file that says `entries`.
    nonisolated static func encode(_ entries: [KeptForUs.Entry]) -> [UInt8] {
        let file = KeyFile()
        for entry in entries {
            let group = entry.activity.description
            file.set(Key.device, in: group, to: entry.device.description)
            file.set(Key.invited, in: group, to: entry.invitedAt)
            file.set(Key.settled, in: group, to: entry.isSettled)
        }
        return Array(file.text.utf8)
    }

    /// What the file says; nothing of what cannot be understood.
    nonisolated static func decode(_ bytes: [UInt8]) -> [KeptForUs.Entry] {
        guard let file = try? KeyFile(bytes: bytes, name: "kept") else { return [] }
        return file.groups.compactMap { group in
            guard let activity = ActivityID(group),
                let text = try? file.string(Key.device, in: group), let device = DeviceID(text)
            else { return nil }
            return KeptForUs.Entry(
                device: device, activity: activity,
                invitedAt: (try? file.integer(Key.invited, in: group)) ?? 0,
                isSettled: (try? file.boolean(Key.settled, in: group)) ?? false)
        }
    }
}
