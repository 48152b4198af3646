// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import Platform

/// Which browser has started the host, and for whom.
enum BrowserIdentity {
    /// The add-on as Firefox names it.
    static let firefoxAddOn = Vendor.addOn
    /// The add-on as Chromium names it, which follows from the key in its manifest.
    static let chromiumAddOn = "chrome-extension://amidmglofemifbpamfffgkcfpkefjmol/"

    /// Desktop entries of browsers whose program is called otherwise.
    private static let entries = [
        "chrome": "google-chrome", "brave": "brave-browser", "msedge": "microsoft-edge",
        "firefox-bin": "firefox", "vivaldi-bin": "vivaldi-stable",
    ]
    /// What starts the host for a Firefox that runs in a sandbox.
    private static let portals: Set = ["xdg-desktop-portal", "xdg-native-messaging-proxy"]
    /// Such a Firefox, of a snap or of Flathub.
    private static let sandboxed = ["firefox_firefox", "org.mozilla.firefox"]

    /// Whether the arguments, without the program's name, say that our add-on asks for the host.
    static func isForAddOn(_ arguments: some Sequence<String>) -> Bool {
        arguments.contains { $0 == firefoxAddOn || $0 == chromiumAddOn }
    }

    /// The desktop entry of the browser whose program is at `path`; nil if it cannot be the name of one.
    static func application(at path: String) -> ApplicationID? {
        // The kernel marks a program whose file has been replaced, as an update does.
        let file = path.split(separator: "/").last.map(String.init) ?? ""
        let name = file.hasSuffix(" (deleted)") ? String(file.dropLast(10)) : file
        return try? ApplicationID(entries[name] ?? name)
    }

    /// The desktop entry of the browser that has started this process; nil if that cannot be found out.
    static func parent() -> ApplicationID? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/\(getppid())/exe", &text, Int(PATH_MAX))
        guard count > 0 else { return nil }
        let path = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let name = path.split(separator: "/").last, portals.contains(String(name)) else {
            return application(at: path)
        }
        // A portal does not say for whom. There are hardly ever two of them.
        return sandboxed.first { id in
            UserDirectories.applications.contains { access("\($0)/\(id).desktop", F_OK) == 0 }
        }.flatMap { try? ApplicationID($0) }
    }
}
