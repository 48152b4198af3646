// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import Platform

/// What the desktop entry says that a player names as its own.
enum PlayerEntry: Sendable {
    /// There is none, or none that can be read.
    case absent
    /// It is a web browser: what it plays is part of a page.
    case browser
    /// It is something else.
    case player

    /// Looks at the entry of `application`. This blocks as long as the file system does.
    static func look(_ application: ApplicationID) -> PlayerEntry {
        guard let entry = try? DesktopEntry.find(application), (try? entry.isInstalled()) == true
        else { return .absent }
        let categories = (try? entry.strings("Categories")) ?? []
        return categories.contains("WebBrowser") ? .browser : .player
    }

    /// What opens a page with the user's web browser.
    static let browserOpenerName = "xdg-open"
    /// Where that is; nil if it is not installed. This blocks as long as the file system does.
    static var browserOpener: String? { ProgramFiles.find(browserOpenerName) }

    /// The program of `player`, if both it and its entry are installed. This blocks as long as the file system does.
    static func program(of player: KnownPlayer) -> String? {
        guard let id = try? ApplicationID(player.application), DesktopEntry.path(of: id) != nil else {
            return nil
        }
        return ProgramFiles.find(player.program)
    }
}
