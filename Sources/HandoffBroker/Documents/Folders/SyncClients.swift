// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import Platform

/// The sync clients of this user, and the folders that their configurations name.
struct SyncClients: Sendable {
    /// A client whose configuration can be read.
    private enum Client: Hashable, Sendable, CaseIterable {
        case nextcloud, nextcloudFlatpak, ownCloud, syncthing

        /// Where the configuration may be; the first file that exists counts.
        var places: [String] {
            let (configuration, home) = (UserDirectories.configuration, UserDirectories.home)
            switch self {
            case .nextcloud: return ["\(configuration)/Nextcloud/nextcloud.cfg"]
            case .nextcloudFlatpak:
                let application = "\(home)/.var/app/com.nextcloud.desktopclient.nextcloud"
                return ["\(application)/config/Nextcloud/nextcloud.cfg"]
            case .ownCloud: return ["\(configuration)/ownCloud/owncloud.cfg"]
            // Where older versions kept it, newer ones still do.
            case .syncthing:
                return [configuration, "\(home)/.config", UserDirectories.state].map {
                    "\($0)/syncthing/config.xml"
                }
            }
        }

        func folders(_ bytes: [UInt8]) -> [SharedFolder] {
            switch self {
            case .nextcloud, .nextcloudFlatpak: CloudConfiguration.folders(bytes, client: "nextcloud")
            case .ownCloud: CloudConfiguration.folders(bytes, client: "owncloud")
            case .syncthing: SyncthingConfiguration.folders(bytes, home: UserDirectories.home)
            }
        }
    }

    /// What tells one state of a file from another.
    private struct Version: Hashable, Sendable {
        let path: String
        private let numbers: [Int64]

        /// The present version of the file at `path`; nil if there is none.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.path = path
            numbers = [
                Int64(bitPattern: UInt64(status.st_dev)), Int64(bitPattern: UInt64(status.st_ino)),
                Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
                Int64(status.st_ctim.tv_sec), Int64(status.st_ctim.tv_nsec),
            ]
        }
    }

    /// How many bytes a configuration may have.
    private static let maximumSize = 256 * 1024

    private var seen: [Client: (version: Version, folders: [SharedFolder])] = [:]

    /// The folders that they name.
    var folders: [SharedFolder] { Client.allCases.flatMap { seen[$0]?.folders ?? [] } }

    /// Looks whether the configurations are as they were, and reads those that are not. This waits for the file system.
    mutating func look() {
        for client in Client.allCases {
            guard let version = client.places.firstResult({ Version($0) }) else {
                seen[client] = nil
                continue
            }
            guard seen[client]?.version != version else { continue }
            seen[client] = (version, Self.read(version.path, client))
        }
    }

    private static func read(_ path: String, _ client: Client) -> [SharedFolder] {
        do {
            guard let bytes = try SmallFile.read(path, maximumSize: maximumSize) else { return [] }
            return client.folders(bytes)
        } catch {
            brokerLog.debug("No shared folders are looked for: \(PeerText.message(error.description))")
            return []
        }
    }
}
