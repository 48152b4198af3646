// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What the folders for data say: which applications are installed, and which names of files stand for which types.
struct InstalledReading: Sendable {
    /// What the folders for desktop entries hold.
    var contents = ApplicationFolders.Contents()
    /// What kinds of files there are, by their names.
    var names = FileNameTypes()
    /// The folders, which have been watched since before they were read; nil if there is no descriptor left for that.
    var watched: WatchedFolders?

    /// How often the folders are read at once, because the set of folders has changed.
    private static let maximumRounds = 3

    /// Reads all of it, the most important folder first. This blocks as long as a file system does.
    /// - Parameters:
    ///   - folders: those that held desktop entries when they were read before; empty if they never were.
    ///   - progress: is told what is known so far whenever one of the folders for data has been read.
    static func read(_ folders: [String], progress: (InstalledReading) -> Void) -> InstalledReading {
        var folders = folders.isEmpty ? UserDirectories.applications : folders
        var reading = read(watching: folders, progress)
        for _ in 1..<maximumRounds where reading.contents.folders != folders {
            folders = reading.contents.folders
            reading = read(watching: folders, progress)
        }
        return reading
    }

    /// Each folder is watched before it is read, so that whatever changes in the meantime is read again.
    private static func read(
        watching folders: [String], _ progress: (InstalledReading) -> Void
    ) -> InstalledReading {
        var reading = InstalledReading()
        var watching = WatchedFolders.Beginning()
        for data in UserDirectories.allData {
            let (applications, names) = ("\(data)/applications", "\(data)/mime/globs2")
            watching?.watch(
                folders.filter { $0 == applications || $0.hasPrefix(applications + "/") }, files: [names])
            ApplicationFolders.look(in: applications, &reading.contents)
            reading.names.read(names)
            progress(reading)
        }
        reading.contents.settle()
        reading.watched = watching.map { WatchedFolders($0) }
        return reading
    }
}
