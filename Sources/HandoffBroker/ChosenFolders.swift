// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import Platform

/// The shared folders that the user has named: the group `Shared Folders` of `handoff.conf`, in which each key is a name.
struct ChosenFolders: Equatable {
    static let group = "Shared Folders"

    /// The paths by name, as they are written in the file.
    private(set) var texts: [String: String] = [:]
    /// What they stand for.
    private(set) var folders: [SharedFolder] = []

    /// None.
    init() {}

    /// These folders.
    /// - Throws: if one of them cannot be, or cannot be written in the file, or if there are too many.
    init(_ texts: [String: String]) throws(HandoffFailure) {
        guard texts.count <= SharedFolders.maximumCount else { throw Self.tooMany }
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) { try add(name, text) }
    }

    /// What `file` says; what is wrong there is left out, with a warning.
    init(_ file: KeyFile) {
        for name in file.keys(in: Self.group) {
            do {
                guard texts.count < SharedFolders.maximumCount else { throw Self.tooMany }
                guard let text = try file.string(name, in: Self.group) else { continue }
                try add(name, text)
            } catch {
                brokerLog.warning("[\(Self.group)] in \(HandoffDirectories.configurationFile): \(error)")
            }
        }
    }

    private mutating func add(_ name: String, _ text: String) throws(HandoffFailure) {
        guard Self.isKey(name) else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.message(name))” cannot be the name of a shared folder, because it is a key of the"
                    + " configuration: use no [, ] and =, no # at the beginning, and no space at its ends.")
        }
        let path = text.hasPrefix("~/") ? UserDirectories.home + text.dropFirst() : text
        folders.append(try SharedFolder(name, at: path))
        texts[name] = text
    }

    /// Whether a key file gives `name` back as it was.
    private static func isKey(_ name: String) -> Bool {
        name.first != "#" && name.first != " " && name.last != " " && !name.contains { "[]=".contains($0) }
    }

    private static var tooMany: HandoffFailure {
        HandoffFailure(
            .limitsExceeded,
            "More than \(SharedFolders.maximumCount) shared folders are named. Name a folder that holds several of them."
        )
    }

    /// Writes them to `file` in the place of `former`; everything else that is there stays.
    func replace(_ former: ChosenFolders, in file: KeyFile) {
        file.replace(former.texts, by: texts, in: Self.group)
    }
}

extension KeyFile {
    /// Writes the keys `texts` to `group` in the place of the `former` ones; everything else that is there stays.
    func replace(_ former: [String: String], by texts: [String: String], in group: String) {
        for name in former.keys where texts[name] == nil { removeKey(name, in: group) }
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) where former[name] != text {
            set(name, in: group, to: text)
        }
    }
}

/// The hosts of devices that the user has named: the group `Sessions` of `handoff.conf`, in which each key is the id of one.
extension SessionHosts {
    static let group = "Sessions"

    /// What `file` says; what is wrong there is left out, with a warning.
    init(_ file: KeyFile) {
        self.init()
        for device in file.keys(in: Self.group) {
            do {
                if let host = try file.string(device, in: Self.group) { try add(device, host) }
            } catch {
                brokerLog.warning("[\(Self.group)] in \(HandoffDirectories.configurationFile): \(error)")
            }
        }
    }
}
