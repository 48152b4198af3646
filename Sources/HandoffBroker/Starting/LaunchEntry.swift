// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffSession
internal import Platform

/// What a desktop entry says about starting its application (Desktop Entry Specification).
///
/// GIO's GDesktopAppInfo would read it too, but trusts what it finds (``InstalledApplications`` says how), and gives an
/// expanded command line only to those who let it start the program.
struct LaunchEntry: Sendable {
    /// How the application is started.
    enum Way: Sendable {
        /// The bus starts it, by this name.
        case bus(BusName)
        /// By its command line.
        case program(ExecLine)
    }

    /// How the application is started.
    let way: Way
    /// What its command line may be given besides what is opened.
    let about: ExecLine.Entry
    /// The folder that it is to start in; nil for the user's own.
    let folder: String?

    /// How many bytes a command line may have. Each is looked at whenever the entries are read, so that looking has to be
    /// cheap.
    private static let maximumLine = 8 << 10

    /// The entry of `application`, as it is now. This blocks as long as the file system does.
    /// - Throws: why the application cannot be started.
    static func find(_ application: ApplicationID) throws -> LaunchEntry {
        guard let entry = try DesktopEntry.find(application) else {
            throw failure("There is no desktop entry \(application).desktop. Install the application again.")
        }
        return try LaunchEntry(entry, application)
    }

    /// What `entry`, that of `application`, says.
    /// - Throws: why the application cannot be started.
    init(_ entry: DesktopEntry, _ application: ApplicationID) throws {
        guard try entry.isInstalled() else {
            throw Self.failure("Its desktop entry says that it is not installed. Install it again.")
        }
        about = ExecLine.Entry(
            name: (try? entry.localizedString("Name")) ?? application.description,
            icon: (try? entry.localizedString("Icon")) ?? "", path: entry.path)
        let folder = try entry.string("Path")
        self.folder = folder?.isEmpty == true ? nil : folder
        if try entry.boolean("DBusActivatable") == true,
            let name = try? BusName(application.description), !name.text.hasPrefix(":")
        {
            way = .bus(name)
        } else {
            way = .program(try Self.program(entry))
        }
    }

    /// The command line of `entry`, if it can be used.
    private static func program(_ entry: DesktopEntry) throws -> ExecLine {
        // There is no standard for which terminal that would be, and its end would say nothing of the program's.
        guard try entry.boolean("Terminal") != true else {
            throw failure("It runs in a terminal, which Handoff does not open. Start it by hand.")
        }
        if let needed = try entry.string("TryExec"), !needed.isEmpty,
            ProgramFiles.find(needed) == nil
        {
            throw failure("Its program \(PeerText.message(needed)) is not installed. Install it again.")
        }
        guard let line = try entry.string("Exec"), !line.isEmpty else {
            throw failure("Its desktop entry names no program (Exec). Install it again.")
        }
        guard line.utf8.count <= maximumLine else {
            throw failure(
                "The Exec line of its desktop entry has \(line.utf8.count) bytes, and at most \(maximumLine) may be used."
                    + " Put what it does into a script.")
        }
        do {
            return try ExecLine(words: try ShellWords.split(line))
        } catch let error as GLibError {
            throw failure(
                "The Exec line of its desktop entry cannot be used (\(PeerText.message(error.message))). Install it again."
            )
        }
    }

    /// How `application` can be started, whose entry this is; nil if it cannot be.
    static func start(_ entry: DesktopEntry, _ application: ApplicationID) -> InstalledApplication.Start? {
        do {
            switch try LaunchEntry(entry, application).way {
            case .bus: return .bus
            case .program: return .program
            }
        } catch {
            let reason = (error as? HandoffFailure)?.message ?? "\(error)"
            brokerLog.debug(
                "\(application) can be continued in only while it runs: \(PeerText.message(reason))")
            return nil
        }
    }

    private static func failure(_ reason: String) -> HandoffFailure {
        HandoffFailure(.applicationFailed, reason)
    }
}
