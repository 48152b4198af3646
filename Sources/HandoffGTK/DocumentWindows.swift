// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGTK
public import FoundationEssentials
internal import GTKObjects
public import HandoffKit

/// The documents that the windows of a `GtkApplication` show, as `NSDocument` has them: each has an activity by itself, which is
/// current while the user is at its window, follows the document when it is saved elsewhere, and ends when the window closes.
///
/// ```swift
/// let documents = DocumentWindows(of: application) { window in url(of: window) }
/// ```
///
/// A document that is continued here, and that no handler of the `HandoffApplication` takes, is opened like any other: by
/// the application's signal `open`, if its desktop entry names its `MimeType`.
@MainActor
public final class DocumentWindows {
    private let application: GTKObject
    private let url: @MainActor (OpaquePointer) -> URL?
    private var windows: Set<OpaquePointer> = []
    private var shown: [OpaquePointer: (window: ActivityWindow, document: DocumentActivity)] = [:]

    /// The documents of a `GtkApplication`, for as long as this value lives.
    /// - Parameter url: where the document is that a `GtkWindow` shows; nil for none, or for one that was not saved anywhere.
    ///   It is asked again whenever the window's title changes or the window becomes active.
    public init(of application: OpaquePointer, url: @escaping @MainActor (OpaquePointer) -> URL?) {
        self.application = GTKObject(application)
        self.url = url
        self.application.on("window-added") { [weak self] window in self?.added(window) }
        self.application.on("window-removed") { [weak self] window in self?.removed(window) }
        var next = gtk_application_get_windows(application)
        while let link = next {
            if let window = link.pointee.data { added(OpaquePointer(window)) }
            next = link.pointee.next
        }
    }

    /// The activity of the document that a window shows, for its delegate and its state; nil if it shows none.
    public func document(in window: OpaquePointer) -> DocumentActivity? {
        look(window)
        return shown[window]?.document
    }

    private func added(_ window: OpaquePointer) {
        windows.insert(window)
        let object = GTKObject(window)
        for signal in ["notify::title", "notify::is-active"] {
            object.on(signal) { [weak self] in self?.look(window) }
        }
        look(window)
    }

    private func removed(_ window: OpaquePointer) {
        windows.remove(window)
        end(window)
    }

    /// What the window shows may be another document by now, or none.
    private func look(_ window: OpaquePointer) {
        guard windows.contains(window), let url = url(window) else { return end(window) }
        if let document = shown[window]?.document {
            if document.url != url { document.url = url }
            return
        }
        let (front, document) = (ActivityWindow(window), DocumentActivity(url: url))
        shown[window] = (front, document)
        front.userActivity = document.userActivity
    }

    private func end(_ window: OpaquePointer) { shown.removeValue(forKey: window)?.document.close() }
}
