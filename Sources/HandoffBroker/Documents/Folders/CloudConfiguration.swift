// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// The configuration of a Nextcloud or ownCloud client, as far as it says which folders are kept alike.
///
/// A folder is called by its account and its place on the server, which are the same on all devices:
/// `nextcloud:me@cloud.example.com/Photos`.
enum CloudConfiguration {
    /// The groups of folders in an account: those that all versions know, those that only newer ones do, and those with
    /// placeholders.
    private static let groups: Set<Substring> = ["Folders", "Multifolders", "FoldersWithPlaceholders"]

    /// The folders that `bytes` name. What cannot be understood is left out.
    /// - Parameter client: what their names begin with.
    static func folders(_ bytes: [UInt8], client: String) -> [SharedFolder] {
        let texts = SettingsText.texts(in: "Accounts", of: bytes)
        var folders: [SharedFolder] = []
        for (key, path) in texts.sorted(by: { $0.key < $1.key }) {
            let parts = key.split(separator: "\\", omittingEmptySubsequences: false)
            // ACCOUNT\GROUP\ALIAS\localPath
            guard parts.count >= 4, parts.last == "localPath", groups.contains(parts[1]),
                folders.count < SharedFolders.maximumCount
            else { continue }
            let folder = String(key.dropLast("localPath".count))
            guard let place = place(of: folder, account: String(parts[0]), texts) else { continue }
            do {
                folders.append(try SharedFolder("\(client):\(place)", at: path))
            } catch {
                brokerLog.debug("A folder of the \(client) client is ignored: \(error.message)")
            }
        }
        return folders
    }

    /// Where the folder is on its server; nil if that cannot be told. `folder` is what its keys begin with.
    private static func place(of folder: String, account: String, _ texts: [String: String]) -> String? {
        let target = texts[folder + "targetPath"] ?? ""
        let rest = target.split(separator: "/").joined(separator: "/")
        // A space of ownCloud has an address of its own.
        let space = texts[folder + "davUrl"].flatMap { $0.contains("/spaces/") ? $0 : nil }
        guard let server = (space ?? texts["\(account)\\url"]).flatMap({ server($0) }) else { return nil }
        let user = texts["\(account)\\dav_user"].map { "\($0)@" } ?? ""
        return "\(user)\(server)/\(rest)"
    }

    /// Host, port and path of a server's address, without a slash at the end.
    private static func server(_ url: String) -> String? {
        guard let uri = g_uri_parse(url, G_URI_FLAGS_NONE, nil) else { return nil }
        defer { g_uri_unref(uri) }
        guard let host = g_uri_get_host(uri).flatMap({ ActivityURL.asciiHost(String(cString: $0)) }),
            !host.isEmpty
        else { return nil }
        let scheme = g_uri_get_scheme(uri).map { String(cString: $0) }
        let port = g_uri_get_port(uri)
        let isUsual = port < 0 || port == (scheme == "http" ? 80 : 443)
        let path = g_uri_get_path(uri).map { String(cString: $0) } ?? ""
        let parts = path.split(separator: "/").map { "/\($0)" }.joined()
        return "\(host)\(isUsual ? "" : ":\(port)")\(parts)"
    }
}
