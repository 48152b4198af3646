// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import HandoffSession

/// How an application that is installed here is shown, as its desktop entry says.
struct ApplicationLook: Equatable, Sendable {
    /// A picture.
    enum Icon: Equatable, Sendable {
        /// By its name in the user's theme.
        case named(String)
        /// A file, by its absolute path.
        case file(String)
    }

    /// Its name in the user's language.
    let name: String
    /// Its picture; nil if it has none that can be used.
    let icon: Icon?

    private static let maximumIcon = 1024

    /// The look of the first of these `applications` that is installed; nil if none is. This blocks as long as the file system
    /// does.
    static func read(_ applications: [String]) -> ApplicationLook? {
        for id in applications {
            guard let application = try? ApplicationID(id), let entry = try? DesktopEntry.find(application)
            else { continue }
            let name = (try? entry.localizedString("Name")) ?? ""
            let icon = (try? entry.localizedString("Icon")) ?? ""
            return ApplicationLook(name: name.isEmpty ? id : name, icon: Self.icon(icon).flatMap(existing))
        }
        return nil
    }

    /// `icon`, unless it is a file that is no picture for sure: whoever shows it would read a device or a pipe without end.
    private static func existing(_ icon: Icon) -> Icon? {
        guard case .file(let path) = icon else { return icon }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return icon
    }

    /// The picture that an entry calls `text`.
    static func icon(_ text: String) -> Icon? {
        guard !text.isEmpty, text.utf8.count <= maximumIcon,
            !text.unicodeScalars.contains(where: PeerText.isControl)
        else { return nil }
        if text.hasPrefix("/") { return .file(text) }
        let isName = text.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "._-+".utf8.contains(byte)
        }
        return isName ? .named(text) : nil
    }
}
