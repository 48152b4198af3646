// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// What kinds of files there are (Shared MIME-info Database), as far as it matters for opening them.
struct ContentTypes {
    /// What a type is a kind of, by type.
    private let parents: [String: [String]]

    /// How many bytes a file of the database may have.
    private static let maximumSize = 1 << 20
    /// How many types a type is a kind of, at most, itself included.
    private static let maximumKinds = 32

    /// What opening may run, install or mount, and what leads elsewhere when it is opened. GIO's
    /// g_content_type_can_be_executable would not do: it says so of every text.
    private static let programs: Set<String> = [
        "application/x-executable", "application/x-sharedlib", "application/x-pie-executable",
        "application/x-desktop",
        "application/x-shellscript", "text/x-shellscript", "application/x-csh", "application/x-perl",
        "application/x-python-bytecode", "text/x-python", "text/x-python3", "application/x-ruby",
        "application/javascript",
        "text/javascript", "application/x-php", "application/x-awk", "text/x-lua", "text/tcl", "text/x-tcl",
        "text/vbscript", "application/x-powershell", "application/x-love-game", "text/x-ms-regedit",
        "application/vnd.ms-htmlhelp", "application/vnd.adobe.flash.movie", "application/x-mswinurl",
        "application/x-java",
        "application/x-java-archive", "application/java-archive", "application/x-java-jnlp-file",
        "application/x-ms-dos-executable",
        "application/x-msdownload", "application/vnd.microsoft.portable-executable", "application/x-dosexec",
        "application/x-msi", "application/x-ms-shortcut", "application/x-bat", "application/x-msdos-program",
        "application/vnd.appimage", "application/x-iso9660-appimage", "application/x-deb",
        "application/vnd.debian.binary-package", "application/x-rpm", "application/vnd.flatpak.ref",
        "application/vnd.flatpak.repo", "application/vnd.flatpak", "application/vnd.snap",
        "application/vnd.squashfs", "application/x-redhat-package-manager",
        "application/vnd.android.package-archive", "application/wasm", "application/x-mach-binary",
        "application/x-msdos-batch", "application/x-runescript",
        "application/x-mozilla-theme",
        "application/x-xpinstall", "application/x-chrome-extension",
        "application/vnd.openofficeorg.extension",
        "application/x-plasma", "application/x-kns", "application/x-remmina", "application/x-cd-image",
        "application/vnd.efi.iso", "application/vnd.efi.img", "application/x-raw-disk-image",
        "application/x-raw-disk-image-xz-compressed", "application/x-apple-diskimage",
        "application/x-qemu-disk", "application/x-qed-disk", "application/x-vhd-disk",
        "application/x-vhdx-disk",
        "application/x-vmdk-disk", "application/x-vdi-disk", "application/ovf", "application/x-ms-wim",
        "application/x-amiga-disk-format", "application/x-discjuggler-cd-image",
        "application/vnd.ms-cab-compressed",
        "application/x-xar", "application/vnd.symbian.install", "x-epoc/x-sisx-app", "application/x-shar",
        "application/x-pef-executable", "application/x-gdscript", "application/vnd.coffeescript",
        "text/x-emacs-lisp",
        "text/x-gradle", "application/x-ica", "application/x-cisco-vpn-settings",
        "application/x-nautilus-link",
        "application/x-kexiproject-shortcut", "application/x-kexi-connectiondata", "message/external-body",
        "text/vnd.sun.j2me.app-descriptor", "inode/directory",
        "inode/symlink", "inode/fifo", "inode/socket",
        "inode/blockdevice",
        "inode/chardevice", "inode/mount-point",
    ]

    /// Lists that lead players to other files.
    private static let lists: Set<String> = [
        "audio/x-mpegurl", "audio/mpegurl", "application/vnd.apple.mpegurl", "application/x-mpegurl",
        "video/vnd.mpegurl", "video/x-mpegurl", "audio/x-scpls", "audio/scpls", "application/pls",
        "application/xspf+xml", "application/x-xspf+xml", "application/smil+xml", "application/smil",
        "audio/x-ms-asx", "video/x-ms-asx", "audio/x-ms-wax", "video/x-ms-wax", "video/x-ms-wvx",
        "video/x-ms-wmx",
        "application/x-ms-asx", "application/vnd.ms-wpl", "application/x-quicktime-media-link",
        "application/x-quicktimeplayer", "application/ram", "text/x-google-video-pointer",
        "text/google-video-pointer", "application/sdp", "application/x-sdp", "application/vnd.sdp",
        "application/x-cue", "application/dash+xml", "audio/x-iriver-pla", "text/x-mrml",
    ]

    /// The types that are installed. This blocks as long as the file system does.
    init(folders: [String] = UserDirectories.allData) {
        var parents: [String: [String]] = [:]
        for folder in folders {
            for file in ["subclasses", "aliases"] {
                guard let bytes = try? SmallFile.read("\(folder)/mime/\(file)", maximumSize: Self.maximumSize)
                else { continue }
                for line in bytes.split(separator: UInt8(ascii: "\n")) {
                    let words = line.split(separator: UInt8(ascii: " ")).map {
                        String(decoding: $0, as: UTF8.self)
                    }
                    if words.count == 2 { parents[words[0], default: []].append(words[1]) }
                }
            }
        }
        self.parents = parents
    }

    /// `type` and everything that it is a kind of, the nearest first. Every text is plain text.
    func kinds(of type: String) -> [String] {
        var kinds = [type]
        var next = 0
        while next < kinds.count, kinds.count < Self.maximumKinds {
            for parent in parents[kinds[next]] ?? []
            where kinds.count < Self.maximumKinds && !kinds.contains(parent) { kinds.append(parent) }
            next += 1
        }
        if type.hasPrefix("text/"), !kinds.contains("text/plain") { kinds.append("text/plain") }
        return kinds
    }

    /// Whether a file of `type` is a program, or something else whose opening may run one.
    func isProgram(_ type: String) -> Bool {
        let kinds = kinds(of: type)
        // Of what is a kind of so much, not all was looked at.
        if kinds.count >= Self.maximumKinds { return true }
        // The database has it that JSON is JavaScript, but nothing runs it.
        if kinds.contains("application/json") { return false }
        // Wine has a type for each kind of Windows file, and runs some of them.
        return kinds.contains { Self.programs.contains($0) || $0.hasPrefix("application/x-wine-extension-") }
    }

    /// Whether a file of `type` is a list that leads players to other files.
    func isList(_ type: String) -> Bool { kinds(of: type).contains(where: Self.lists.contains) }

    /// Whether a file of `type` is a text, XML included.
    func isText(_ type: String) -> Bool {
        kinds(of: type).contains { $0 == "text/plain" || $0 == "application/xml" || $0.hasSuffix("+xml") }
    }
}
