// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CAdwaita
package import GTKObjects

/// A program with windows of libadwaita. It is on the session bus under its id, so that it runs only once.
@MainActor
package final class Application {
    /// The application, as windows take it.
    package let object: GTKObject

    /// A program that has not begun yet; `id` is the name of its desktop entry.
    ///
    /// `startUp` is called once there is a display and before there is a window, and `activate` each time that somebody opens
    /// the program. Both are kept as long as the
    /// application.
    package init(
        _ id: String, startUp: @escaping @MainActor () -> Void, activate: @escaping @MainActor () -> Void
    ) {
        object = GTKObject(adw_application_new(id, G_APPLICATION_DEFAULT_FLAGS))
        // Templates are in the program itself. If GTK looked for resources, it would add a folder of pictures that is not
        // there, and have the first window wait while the icon theme is read a second time.
        g_application_set_resource_base_path(pointer, nil)
        object.on("startup", startUp)
        object.on("activate", activate)
    }

    /// Runs until the last window is closed.
    /// - Returns: the exit status.
    package func run() -> Int32 {
        // GTK may keep what the program was started with.
        var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { g_strdup($0) } + [nil]
        return g_application_run(pointer, Int32(arguments.count - 1), &arguments)
    }

    /// Ends the program at once.
    package func quit() { g_application_quit(pointer) }

    /// Has any of `keys`, as GTK writes them, choose `action`, with its prefix, in all windows.
    package func setShortcuts(_ keys: [String], for action: String) {
        var copies: [UnsafePointer<CChar>?] = keys.map { UnsafePointer(g_strdup($0)) }
        defer { for copy in copies { g_free(UnsafeMutablePointer(mutating: copy)) } }
        copies.append(nil)
        gtk_application_set_accels_for_action(object.pointer, action, copies)
    }

    private var pointer: UnsafeMutablePointer<GApplication> { UnsafeMutablePointer(object.pointer) }
}
