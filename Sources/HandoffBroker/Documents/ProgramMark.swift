// SPDX-License-Identifier: LGPL-2.1-or-later

/// How files begin, and how their names end, that are run, installed or followed when they are opened. This counts
/// whatever the database of MIME types knows of them, which may be missing or old.
enum ProgramMark {
    /// What the beginning of a file shows that it is, for people; nil if it shows nothing.
    static func inContent(_ bytes: [UInt8]) -> String? {
        for (mark, what) in marks where bytes.starts(with: mark) { return what }
        // Texts may begin with these two letters as well, but hold no zero.
        if bytes.starts(with: "MZ".utf8), bytes.prefix(64).contains(0) { return "a Windows program" }
        // The name of the first file in an archive follows thirty bytes.
        if bytes.starts(with: [0x50, 0x4B, 3, 4]), bytes.dropFirst(30).starts(with: "META-INF/".utf8) {
            return "a Java archive"
        }
        return inText(bytes)
    }

    private static let marks: [([UInt8], String)] = [
        (Array("#!".utf8), "a script"),
        ([0x7F] + Array("ELF".utf8), "a program"),
        (Array("!<arch>\ndebian".utf8), "a Debian package"),
        ([0xED, 0xAB, 0xEE, 0xDB], "an RPM package"),
        (Array("hsqs".utf8), "a snap or another file system"),
        (Array("flatpak".utf8) + [0], "a Flatpak bundle"),
        ([0xCA, 0xFE, 0xBA, 0xBE], "a program for Java or macOS"),
        ([0xCF, 0xFA, 0xED, 0xFE], "a program for macOS"), ([0xCE, 0xFA, 0xED, 0xFE], "a program for macOS"),
        ([0] + Array("asm".utf8), "a WebAssembly program"),
        ([0x4C, 0, 0, 0, 1, 0x14, 2, 0], "a Windows shortcut"),
    ]

    /// The groups that key files begin with that say what is to be run, installed or opened.
    private static let groups = [
        "[Desktop Entry]", "[KDE Desktop Entry]", "[Flatpak Ref]", "[Flatpak Repo]", "[InternetShortcut]",
        "[autorun]",
    ]

    /// A key file may begin with comments, empty lines and a byte order mark.
    private static func inText(_ bytes: [UInt8]) -> String? {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = line.drop { $0 == 0x20 || $0 == 0x09 }
            guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else {
                continue
            }
            let group = groups.first { group in
                line.count >= group.utf8.count && zip(line, group.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
            }
            return group.map { "what \($0) begins" }
        }
        return nil
    }

    /// What a file called `name` is by the ending of its name, for people; nil if that says nothing.
    static func inName(_ name: String) -> String? {
        let parts = name.lowercased().split(separator: ".", omittingEmptySubsequences: false).dropFirst()
        guard let last = parts.last else { return nil }
        let ends = [String(last), parts.suffix(2).joined(separator: ".")]
        return endings.first { kind in ends.contains(where: kind.value.contains) }?.key
    }

    /// The endings by what they stand for. Those of the Shared MIME-info Database are here as well, since it may be missing
    /// or old: its subclasses of `application/x-executable`, its packages, images of disks, shortcuts and connections. The
    /// others are those that desktops, language runtimes and Windows register for what they run, install or follow.
    private static let endings: KeyValuePairs<String, Set<String>> = [
        "a program": [
            "exe", "com", "scr", "pif", "cpl", "dll", "ocx", "sys", "drv", "xll", "wll", "class", "wasm",
            "run",
            "appimage", "elf", "so", "ko",
        ],
        "a script": [
            "sh", "bash", "zsh", "fish", "csh", "tcsh", "ksh", "dash", "nu", "elv", "xsh", "command", "tool",
            "bat",
            "cmd", "btm", "ps1", "psm1", "psd1", "ps1xml", "vb", "vbs", "vbe", "ws", "wsf", "wsh", "wsc",
            "sct", "hta",
            "js", "jse", "mjs", "cjs", "coffee", "py", "py3", "pyc", "pyo", "pyw", "pyx", "pyz", "wsgi", "pl",
            "pm",
            "perl", "raku", "rb", "rbw", "php", "php3", "php4", "php5", "phps", "phtml", "phar", "lua",
            "luac", "tcl",
            "tk", "awk", "sed", "r", "rprofile", "jl", "el", "elc", "vim", "groovy", "gvy", "gradle", "gd",
            "fasl",
            "exs", "applescript", "scpt", "scptd", "ahk", "au3", "kts", "shar",
        ],
        "a package": [
            "deb", "udeb", "rpm", "spm", "flatpak", "flatpakref", "flatpakrepo", "snap", "apk", "aab", "xapk",
            "ipa",
            "sis", "sisx", "jar", "war", "ear", "jnlp", "msi", "msp", "msu", "mst", "msix", "msixbundle",
            "appx",
            "appxbundle", "cab", "pkg", "mpkg", "gem", "whl", "egg", "conda", "crate", "nupkg", "eopkg",
            "xbps",
            "kns",
        ],
        "an extension": [
            "xpi", "crx", "safariextz", "oxt", "vsix", "shell-extension.zip", "plasmoid", "kwinscript", "vmb",
            "sublime-package", "xla", "xlam", "ppa", "ppam", "themepack",
        ],
        "an image of a disk": [
            "iso", "img", "img.xz", "raw-disk-image", "raw-disk-image.xz", "dmg", "sparseimage", "toast",
            "nrg", "cdi",
            "mdf", "mds", "qcow", "qcow2", "qed", "vdi", "vmdk", "vhd", "vhdx", "vpc", "hdd", "wim", "swm",
            "esd",
            "ova", "ovf", "squashfs", "sfs", "fd", "adf",
        ],
        "a shortcut": [
            "desktop", "kdelnk", "directory", "lnk", "url", "website", "webloc", "inetloc", "fileloc",
            "ftploc",
            "afploc", "scf", "library-ms", "search-ms", "searchconnector-ms", "appref-ms",
            "settingcontent-ms",
            "application", "msc", "theme",
        ],
        "a connection or a setting of the system": [
            "rdp", "vnc", "vv", "remmina", "ica", "nxs", "x2go", "ovpn", "nmconnection", "pcf",
            "mobileconfig", "onc",
            "tblk", "pbk", "reg", "inf",
        ],
    ]
}
