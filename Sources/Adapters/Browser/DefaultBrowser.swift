// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// The user's default browser, and how it opens a page.
struct DefaultBrowser: Sendable {
    /// The name of its desktop entry, without `.desktop`.
    let id: ApplicationID
    /// What its add-on's host may call it: that name, or the one of its program, as of an entry that a user has made.
    let names: Set<ApplicationID>
    /// Its program, an absolute path.
    let program: String
    /// What the program is given, its own name first.
    let arguments: [String]

    /// The default browser for the page at `address`, which has been checked; nil if there is none. This may block.
    /// - Throws: if it cannot be started, with what to say to the user.
    static func find(for address: String) throws -> DefaultBrowser? {
        let scheme = address.prefix { $0 != ":" }.lowercased()
        guard let found = g_app_info_get_default_for_type("x-scheme-handler/\(scheme)", 0) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(found)) }
        guard let name = g_app_info_get_id(found).map({ String(cString: $0) }), name.hasSuffix(".desktop"),
            let line = g_app_info_get_commandline(found).map({ String(cString: $0) })
        else { return nil }
        let id = try ApplicationID(String(name.dropLast(".desktop".count)))
        let about = ExecLine.Entry(
            name: g_app_info_get_name(found).map { String(cString: $0) } ?? id.description, icon: "", path: ""
        )
        let command = try ExecLine(words: try ShellWords.split(line))
        guard let program = ProgramFiles.find(command.program) else {
            throw HandoffFailure(
                .applicationFailed,
                "The program of \(id), the default web browser, is not installed. Install it again, or choose another"
                    + " browser.")
        }
        return DefaultBrowser(
            id: id, names: names(id, program), program: program,
            arguments: try command.arguments(opening: .page(ActivityURL.plain(address)), of: about))
    }

    private static func names(_ id: ApplicationID, _ program: String) -> Set<ApplicationID> {
        var names: Set = [id]
        if let name = BrowserIdentity.application(at: program) { names.insert(name) }
        if let real = realpath(program, nil) {
            defer { free(real) }
            if let name = BrowserIdentity.application(at: String(cString: real)) { names.insert(name) }
        }
        return names
    }
}
