// SPDX-License-Identifier: LGPL-2.1-or-later
import CGTK
import FoundationEssentials
import GTKObjects
import HandoffGTK
import HandoffKit

// An application of documents as any other: an empty window, and one for each file that it is given, whose title is the file's
// path. What it adds for Handoff are the uses of `notes` and `documents`.
MainActor.assumeIsolated {
    let opensFiles = GApplicationFlags(1 << 2)
    let object = GTKObject(gtk_application_new("org.example.Notes", opensFiles))
    let application = object.pointer

    @MainActor func url(of window: OpaquePointer) -> URL? {
        let path = GTKObject(window)[text: "title"]
        return path.isEmpty ? nil : URL(fileURLWithPath: path)
    }

    let notes = HandoffApplication(
        id: "org.example.Notes", documentTypes: ["text/plain": "org.example.notes.text"])
    notes.onContinue { _, _ in false }
    let documents = DocumentWindows(of: application) { window in url(of: window) }
    object.on("startup") { notes.start() }

    @MainActor func show(_ path: String) {
        let window = GTKObject(gtk_application_window_new(application))
        window[text: "title"] = path
        gtk_window_present(window.pointer)
    }
    object.on("activate") { show("") }
    object.on(
        "open",
        first: { files in
            guard let path = g_file_get_path(UnsafePointer<OpaquePointer>(files).pointee) else { return }
            show(String(cString: path))
            g_free(path)
        })
    // The window in front is saved as the file of this path, or closed if there is none.
    let save = GTKObject(g_simple_action_new("save-as", g_variant_type_new("s")))
    save.on(
        "activate",
        first: { path in
            guard let window = gtk_application_get_active_window(application),
                let text = g_variant_get_string(path, nil).map({ String(cString: $0) })
            else { return }
            if text.isEmpty { gtk_window_destroy(window) } else { GTKObject(window)[text: "title"] = text }
        })
    g_action_map_add_action(application, save.pointer)

    var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { g_strdup($0) } + [nil]
    _ = g_application_run(UnsafeMutablePointer(application), Int32(arguments.count - 1), &arguments)
    withExtendedLifetime(documents) {}
}
