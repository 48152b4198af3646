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

    /// Whether a file called `name` is one, by the ending of its name.
    static func isInName(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return endings.contains(name[dot...].dropFirst().lowercased())
    }

    private static let endings: Set = [
        "desktop", "kdelnk", "directory", "sh", "bash", "zsh", "fish", "csh", "ksh", "run", "appimage",
        "jar", "jnlp", "class", "exe", "scr", "pif", "bat", "cmd", "ps1", "vb", "vbs", "vbe", "jse", "ws",
        "wsf", "wsh", "hta", "msc", "cpl", "dll", "msi", "msp", "msix", "appx", "lnk", "url", "rdp", "vnc",
        "vv", "remmina", "reg", "deb", "udeb", "rpm", "flatpak", "flatpakref", "flatpakrepo", "snap", "apk",
        "xpi", "crx", "oxt", "py", "pyc", "pyz", "pyw", "pl", "rb", "php", "lua", "js", "mjs", "tcl",
    ]
}
