// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import CGio
import GTKObjects
import HandoffSession
import HandoffSettingsModel
import MainLoop
import Platform

/// The applications that are installed, as the desktop knows them. Files are looked at on a thread; until that is over, an
/// application is known by its id alone.
@MainActor
final class InstalledApplications {
    /// An application that knows Handoff.
    struct Entry {
        let id: String
        let name: String
    }

    /// What they are called.
    private(set) lazy var names = ApplicationNames { [unowned self] in memory.entry($0)?.name }
    /// Called when something else is known of applications.
    var onChange: (() -> Void)?

    private struct Known {
        let name: String
        let icon: GTKObject?
    }

    /// What a thread has found.
    private struct Found: @unchecked Sendable {
        let id: String
        /// Nil if it is not installed.
        let name: String?
        /// A reference to the picture, which nobody changes.
        let icon: OpaquePointer?
    }

    /// Where the picture of an application is.
    private struct Picture {
        weak var image: GTKObject?
        let ids: [String]
    }

    /// Whether there is a program that shows software to be installed.
    private(set) lazy var hasSoftwareCentre: Bool = {
        let program = g_app_info_get_default_for_uri_scheme("appstream")
        defer { if let program { g_object_unref(UnsafeMutableRawPointer(program)) } }
        return program != nil
    }()

    private var memory = ApplicationMemory<Known>()
    private var pictures: [Picture] = []
    private var monitor: GTKObject?

    /// Begins to notice when applications come and go.
    func begin() {
        let monitor = GTKObject(g_app_info_monitor_get())
        self.monitor = monitor
        monitor.on("changed") { [weak self] in
            self?.memory.outdate()
            self?.onChange?()
        }
    }

    /// Whether this one is installed, as far as is known.
    func isInstalled(_ id: String) -> Bool { memory.entry(id) != nil }

    /// Shows in `image` the picture of the first of these applications that has one, for as long as the image is there.
    func show(_ ids: [String], in image: GTKObject) {
        pictures.removeAll { $0.image == nil || $0.image === image }
        pictures.append(Picture(image: image, ids: ids))
        paint(ids, in: image)
    }

    private func paint(_ ids: [String], in image: GTKObject) {
        if let icon = ids.firstResult({ memory.entry($0)?.icon }) {
            gtk_image_set_from_gicon(image.pointer, icon.pointer)
        } else {
            gtk_image_set_from_icon_name(image.pointer, "application-x-executable")
        }
    }

    /// The applications whose desktop entries say that they know Handoff, and are not refused by the broker, by name.
    func knowingHandoff() -> [Entry] {
        var found: [Entry] = []
        let all = g_desktop_app_info_get_implementations("org.example.Handoff.Application")
        defer {
            g_list_free_full(all) { if let entry = $0 { g_object_unref(entry) } }
        }
        var next = all
        while let link = next {
            next = link.pointee.next
            guard let data = link.pointee.data else { continue }
            let info = OpaquePointer(data)
            guard let file = g_app_info_get_id(info).map({ String(cString: $0) }), file.hasSuffix(".desktop"),
                let path = g_desktop_app_info_get_filename(info), let name = g_app_info_get_display_name(info)
            else { continue }
            let id = String(file.dropLast(".desktop".count))
            // Nil too for one that has nothing to do with Handoff.
            guard (try? DeclaringEntry.read(String(cString: path), id: id)) != nil else { continue }
            found.append(Entry(id: id, name: String(cString: name)))
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

    // MARK: Looking them up

    /// All that is shown now has been asked for: looks up what is not known of it, and forgets the rest.
    func settle() {
        pictures.removeAll { $0.image == nil }
        let ids = memory.settle(Set(pictures.flatMap(\.ids)))
        if ids.isEmpty { return }
        let take: @MainActor @Sendable ([Found]) -> Void = { [weak self] in self?.take($0) }
        do {
            try BackgroundThread.start("applications") {
                let found = ids.map { Self.find($0) }
                MainLoop.start { Self.enter { take(found) } }
            }
        } catch {
            // There is no thread left. What is shown next looks again.
            memory.take([:])
        }
    }

    private func take(_ found: [Found]) {
        var all: [String: Known?] = [:]
        for one in found {
            let icon = one.icon.map { GTKObject($0) }
            // The object has a reference of its own now.
            if let icon = one.icon { g_object_unref(UnsafeMutableRawPointer(icon)) }
            all[one.id] = .some(one.name.map { Known(name: $0, icon: icon) })
        }
        memory.take(all)
        for picture in pictures where picture.ids.contains(where: { all[$0] != nil }) {
            if let image = picture.image { paint(picture.ids, in: image) }
        }
        onChange?()
    }

    /// Runs `body` here and now: both actors are the first thread of the process.
    @MainLoop private static func enter(_ body: @MainActor () -> Void) { MainActor.assumeIsolated(body) }

    nonisolated private static func find(_ id: String) -> Found {
        let nothing = Found(id: id, name: nil, icon: nil)
        // What is no id of an application must not become a path.
        guard !id.isEmpty, id.utf8.count <= 255, !id.contains("/"),
            let info = g_desktop_app_info_new("\(id).desktop")
        else { return nothing }
        defer { g_object_unref(UnsafeMutableRawPointer(info)) }
        guard let name = g_app_info_get_display_name(info) else { return nothing }
        let icon = g_app_info_get_icon(info)
        if let icon { g_object_ref(UnsafeMutableRawPointer(icon)) }
        return Found(id: id, name: String(cString: name), icon: icon)
    }
}
