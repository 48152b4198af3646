// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import CGio
import GTKSupport
import HandoffSettingsModel

/// The applications that are installed, as the desktop knows them.
@MainActor
final class InstalledApplications {
    /// An application that knows Handoff.
    struct Entry {
        let id: String
        let name: String
    }

    /// What they are called.
    private(set) lazy var names = ApplicationNames { [unowned self] in entry($0)?.name }
    /// Called when applications have come or gone.
    var onChange: (() -> Void)?

    private struct Known {
        let name: String
        let icon: GTKObject?
    }

    private var known: [String: Known?] = [:]
    private var monitor: GTKObject?

    /// Begins to notice when applications come and go.
    func begin() {
        let monitor = GTKObject(g_app_info_monitor_get())
        self.monitor = monitor
        monitor.on("changed") { [weak self] in
            self?.known = [:]
            self?.onChange?()
        }
    }

    /// Shows in `image` the picture of the first of these applications that has one.
    func show(_ ids: [String], in image: GTKObject) {
        if let icon = ids.lazy.compactMap({ self.entry($0)?.icon }).first {
            gtk_image_set_from_gicon(image.pointer, icon.pointer)
        } else {
            gtk_image_set_from_icon_name(image.pointer, "application-x-executable")
        }
    }

    /// The applications whose desktop entries say that they know Handoff, by name.
    func knowingHandoff() -> [Entry] {
        var found: [Entry] = []
        let all = g_app_info_get_all()
        defer {
            g_list_free_full(all) { if let entry = $0 { g_object_unref(entry) } }
        }
        var next = all
        while let link = next {
            next = link.pointee.next
            guard let data = link.pointee.data else { continue }
            let info = OpaquePointer(data)
            guard let types = g_desktop_app_info_get_string(info, "X-Handoff-ActivityTypes") else { continue }
            g_free(types)
            guard let id = g_app_info_get_id(info).map({ String(cString: $0) }), id.hasSuffix(".desktop"),
                let name = g_app_info_get_display_name(info)
            else { continue }
            found.append(Entry(id: String(id.dropLast(".desktop".count)), name: String(cString: name)))
        }
        return found.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }

    /// What lets `application`, or another, come to the front, since the user has just asked for it in `window`; empty if the
    /// desktop gives nothing.
    func activationToken(for application: String?, from window: GTKObject) -> String {
        let display = gtk_widget_get_display(window.pointer)
        guard let context = gdk_display_get_app_launch_context(display) else { return "" }
        defer { g_object_unref(UnsafeMutableRawPointer(context)) }
        let info =
            application.flatMap { g_desktop_app_info_new("\($0).desktop") }
            // The desktop wants to be told something; which program it will be is up to the broker.
            ?? g_app_info_create_from_commandline("true", "Handoff", G_APP_INFO_CREATE_NONE, nil)
        guard let info else { return "" }
        defer { g_object_unref(UnsafeMutableRawPointer(info)) }
        guard let token = g_app_launch_context_get_startup_notify_id(UnsafeMutablePointer(context), info, nil)
        else { return "" }
        defer { g_free(token) }
        return String(cString: token)
    }

    private func entry(_ id: String) -> Known? {
        if let known = known[id] { return known }
        let found = Self.find(id)
        known[id] = .some(found)
        return found
    }

    private static func find(_ id: String) -> Known? {
        // What is no id of an application must not become a path.
        guard !id.isEmpty, id.utf8.count <= 255, !id.contains("/"),
            let info = g_desktop_app_info_new("\(id).desktop")
        else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(info)) }
        guard let name = g_app_info_get_display_name(info) else { return nil }
        return Known(name: String(cString: name), icon: g_app_info_get_icon(info).map { GTKObject($0) })
    }
}
