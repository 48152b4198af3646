// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import ContactsModel
import GTKObjects
import GTKSupport
import Platform

/// The user's contacts, for all windows. Files are read and written elsewhere, so that no window ever waits for a disk.
@MainActor
final class ContactStore {
    private let file: ContactFile
    private let queue = FileQueue()
    private var monitor: GTKObject?
    private var isReadingSoon = false
    private var observers: [ObjectIdentifier: () -> Void] = [:]

    /// The contacts as they were last read or written.
    private(set) var list = ContactList()
    /// How often they have changed.
    private(set) var changes = 0
    /// Why they can't be read; nil if they can.
    private(set) var problem: String?
    /// What the user has to be told once, such as that a file was damaged.
    private(set) var news: String?
    /// Whether the contacts have been read.
    private(set) var isRead = false

    /// The contacts in `file`, which are not there before ``read()``.
    init(_ file: ContactFile) { self.file = file }

    /// The file that they are in.
    var path: String { file.path }

    /// Calls `body` after each change, until ``forget(_:)``.
    func observe(_ owner: AnyObject, _ body: @escaping () -> Void) {
        observers[ObjectIdentifier(owner)] = body
    }

    /// Calls nothing of `owner` any more.
    func forget(_ owner: AnyObject) { observers[ObjectIdentifier(owner)] = nil }

    /// Takes what there is to be told.
    func takeNews() -> String? {
        defer { news = nil }
        return news
    }

    /// Reads the contacts anew.
    func read() {
        let file = file
        Task {
            do {
                took(try await queue.run { try file.read() })
            } catch {
                problem = "\(error)"
                tell()
            }
        }
    }

    /// Reads the contacts anew whenever somebody has changed the file, such as another program of the user's.
    private func watch() {
        let file: OpaquePointer = g_file_new_for_path(path)
        defer { g_object_unref(UnsafeMutableRawPointer(file)) }
        // Without it what others write is seen at the next change.
        guard let pointer = g_file_monitor_file(file, G_FILE_MONITOR_NONE, nil, nil) else { return }
        let monitor = GTKObject(UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self))
        g_object_unref(UnsafeMutableRawPointer(pointer))
        monitor.on("changed") { [weak self] in self?.readSoon() }
        self.monitor = monitor
    }

    /// A change is told of several times.
    private func readSoon() {
        guard !isReadingSoon else { return }
        isReadingSoon = true
        Later.call(afterMilliseconds: 100) { [weak self] in
            self?.isReadingSoon = false
            self?.read()
        }
    }

    /// Changes the contacts, and returns once they are stored.
    func change(_ body: @escaping @Sendable (inout ContactList) -> Void) async throws {
        let file = file
        took(try await queue.run { try file.change(body) })
    }

    /// Takes over contacts of another device, and returns once they are stored. There may be so many that comparing them takes
    /// longer than a window may stand still.
    func merge(_ contacts: [Contact]) async throws -> ContactList.Merge {
        let file = file
        let (contents, merge) = try await queue.run {
            var merge = ContactList.Merge()
            let contents = try file.change { merge = $0.merge(contacts) }
            return (contents, merge)
        }
        took(contents)
        return merge
    }

    private func took(_ contents: ContactFile.Contents) {
        list = contents.list
        changes += 1
        problem = nil
        isRead = true
        // From now on there is the folder of the file.
        if monitor == nil { watch() }
        if let aside = contents.setAside {
            news = tr(
                "The file with your contacts was damaged. What is left of it is in {file}.", ["file": aside])
        }
        tell()
    }

    private func tell() { for observer in observers.values { observer() } }
}
