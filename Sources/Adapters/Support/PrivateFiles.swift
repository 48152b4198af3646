// SPDX-License-Identifier: LGPL-2.1-or-later

/// Files that no other device gets, whatever shows them.
package enum PrivateFiles {
    /// Folders where no documents are: devices, the kernel, what programs keep in memory (pass(1) edits there), and copies
    /// of files that only the administrator may read (sudoedit(8)).
    private static let systemFolders = ["/dev/", "/proc/", "/run/", "/sys/", "/var/tmp/"]
    /// Where drives are that the user has plugged in.
    private static let drives = "/run/media/"
    /// Folders, wherever they are, that hold secrets.
    private static let privateFolders: Set<String> = [
        ".ssh", ".gnupg", ".password-store", ".aws", ".azure", ".kube", ".docker", "keyrings", ".pki",
    ]
    /// Files, wherever they are, that hold secrets.
    private static let privateNames: Set<String> = [
        ".netrc", "_netrc", ".authinfo", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd", ".pypirc",
        ".vault-token", "shadow", "gshadow", "sudoers",
    ]
    /// How the names of files end that hold secrets, or what is encrypted on the disk and plain in the editor.
    private static let privateEndings = [
        ".gpg", ".pgp", ".asc", ".age", ".kdbx", ".key", ".pem", ".p12", ".pfx", ".ppk", ".jks", ".keystore",
        ".vault", ".cpt", ".bfe",
    ]

    /// Whether the file at `path`, which is absolute, may hold secrets, as far as its name tells.
    package static func isPrivate(_ path: String) -> Bool {
        // Compared as bytes: what a name begins with would make another character of the slash before it.
        let bytes = path.utf8
        if systemFolders.contains(where: { bytes.starts(with: $0.utf8) }), !bytes.starts(with: drives.utf8) {
            return true
        }
        let parts = bytes.split(separator: UInt8(ascii: "/")).map { String(Substring($0)).lowercased() }
        guard let name = parts.last else { return true }
        if parts.dropLast().contains(where: privateFolders.contains) || privateNames.contains(name) {
            return true
        }
        if name.hasPrefix("id_"),
            ["rsa", "dsa", "ecdsa", "ed25519"].contains(where: name.dropFirst(3).hasPrefix)
        {
            return true
        }
        // Programs that let a password be edited call the file after themselves.
        if parts.contains(where: { $0.hasPrefix("pass.") || $0.hasPrefix("gopass-edit") }) { return true }
        return privateEndings.contains(where: name.hasSuffix)
    }
}
