// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffDaemon
internal import MainLoop
internal import Platform

/// Keeps the registry in line with the desktop entries of this machine.
///
/// GIO has GAppInfoMonitor and GDesktopAppInfo for this. They are not used, because they trust what they
/// find, which anybody who can write to one of the folders may have put there. With GLib 2.74, a pipe called
/// `x.desktop` stops the caller for good; an entry of 100 MB takes 640 MB of memory and 2.7 s; and a link
/// from a folder to itself is followed forty times. While no descriptor is free, all applications count as
/// uninstalled, and they still do so afterwards. A change in a folder within another is not noticed, and
/// nobody is told why an entry is ignored. Of 200 ordinary entries that concern others, GLib parses each with
/// all its translations and keeps an index of them; looking for the name of Handoff's interface takes half
/// that time, and keeps nothing.
@MainLoop
final class InstalledApplications {
    private let onChange: @MainLoop ([InstalledApplication]) -> Void
    private var isLoaded = false
    private lazy var watch = FolderWatch { [weak self] in self?.changed() }
    private var isExpecting = false
    private lazy var timer = DeadlineTimer { [weak self] in self?.load() }

    /// The folders that are watched.
    private var folders = UserDirectories.applications
    /// How long, in microseconds, to wait for more after the first change: an installation writes many files,
    /// and a program that never stops writing must not keep the broker busy.
    private var patience = shortestPatience
    private static let shortestPatience: Int64 = 200_000
    /// The wait is at least this many times as long as reading takes.
    private static let restfulness: Int64 = 20
    /// How long, in microseconds, to wait before trying again to read what could not be read.
    private static let retryInterval: Int64 = 2_000_000
    /// How often the folders are read at once, because the set of folders has changed.
    private static let maximumRounds = 3

    /// Calls `onChange` with all of them each time that they have been read.
    init(_ onChange: @escaping @MainLoop ([InstalledApplication]) -> Void) { self.onChange = onChange }

    /// Makes sure that the entries have been read.
    func loadOnce() {
        if !isLoaded { load() }
    }

    private func changed() {
        // A folder that never comes to rest is read again and again, not never.
        guard !isExpecting else { return }
        isExpecting = true
        timer.set(MainLoop.now + patience)
    }

    private func load() {
        (isLoaded, isExpecting) = (true, false)
        let start = MainLoop.now
        let contents = look()
        patience = max(Self.shortestPatience, Self.restfulness * (MainLoop.now - start))
        guard !contents.isIncomplete else {
            // What was found before is better than what can be found while no descriptor is free.
            brokerLog.info(
                "The desktop entries cannot be read now: there is no descriptor left. Trying again.")
            isExpecting = true
            return timer.set(MainLoop.now + Self.retryInterval)
        }
        brokerLog.debug("\(contents.applications.count) installed applications take part.")
        onChange(contents.applications)
    }

    /// Each folder is watched before it is read, so that whatever changes in the meantime is read again.
    private func look() -> ApplicationFolders.Contents {
        watch.watch(folders)
        var contents = ApplicationFolders.look()
        for _ in 1..<Self.maximumRounds where contents.folders != folders {
            folders = contents.folders
            watch.watch(folders)
            contents = ApplicationFolders.look()
        }
        return contents
    }
}
