// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
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
///
/// They are read on a thread, since neither a file system that does not answer nor any number of entries may stop the
/// broker. One reading runs at a time.
@MainLoop
final class InstalledApplications {
    /// Reads everything where it may block: given the folders that held entries before, tells what is known so far each
    /// time that one has been read, and returns what it has found.
    typealias Reader = @Sendable ([String], (InstalledReading) -> Void) -> InstalledReading

    private let reader: Reader
    private let onChange: @MainLoop (_ reading: InstalledReading, _ isWhole: Bool) -> Void
    private var schedule = ReadingSchedule() {
        didSet { timer.set(schedule.nextTime?.microseconds) }
    }
    private lazy var watch = FolderWatch { [weak self] in self?.schedule.changed(at: .now) }
    private lazy var timer = DeadlineTimer { [weak self] in self?.read() }
    /// The folders that held entries when they were read last.
    private var folders: [String] = []
    /// What the first reading has found so far; nil once it is over.
    private var soFar: InstalledReading? = InstalledReading()
    /// The entries of which the log says what is wrong with them: once, and of no more than ``maximumComplaints``.
    private var complained: Set<String> = []
    private static let maximumComplaints = 20
    /// Whether what has been found so far counts already.
    private var isOverdue = false

    /// Whether the entries have been read.
    var areKnown: Bool { soFar == nil }

    /// Calls `onChange` with all of them each time that they have been read.
    init(
        _ reader: @escaping Reader = { InstalledReading.read($0, progress: $1) },
        _ onChange: @escaping @MainLoop (_ reading: InstalledReading, _ isWhole: Bool) -> Void
    ) {
        self.reader = reader
        self.onChange = onChange
    }

    /// Makes sure that the entries have been read, or are being read.
    func begin() {
        if !areKnown, schedule.nextTime == nil { read() }
    }

    /// What the first reading has found so far counts from now on, as long as it is not over.
    func useWhatIsKnown() {
        guard let soFar, !isOverdue else { return }
        isOverdue = true
        brokerLog.warning(
            "The desktop entries have not been read yet, and calls wait for them no longer: a file system is"
                + " slow or does not answer, or there are too many calls. What is known of the entries so far "
                + "counts until they have been read."
        )
        onChange(soFar, false)
    }

    private func read() {
        guard schedule.begin(at: .now) else { return }
        let (reader, folders, isFirst) = (reader, folders, !areKnown)
        do {
            try BackgroundThread.start("desktop entries") {
                // The first reading is waited for.
                if !isFirst { BackgroundThread.giveWay() }
                let reading = reader(folders) { soFar in
                    if isFirst { MainLoop.start { [weak self] in self?.found(soFar) } }
                }
                MainLoop.start { [weak self] in self?.ended(reading) }
                // It took more than what is kept of it.
                ProcessMemory.returnFree()
            }
        } catch {
            brokerLog.info("The desktop entries cannot be read now: \(error.message). Trying again.")
            schedule.ended(isIncomplete: true, at: .now)
        }
    }

    private func found(_ reading: InstalledReading) {
        guard soFar != nil else { return }
        soFar = reading
        if isOverdue { onChange(reading, false) }
    }

    private func ended(_ reading: InstalledReading) {
        let contents = reading.contents
        watch.watch(reading.watched)
        folders = contents.folders
        schedule.ended(isIncomplete: contents.isIncomplete, at: .now)
        guard !contents.isIncomplete else {
            // What was found before is better than what can be found while no descriptor is free.
            brokerLog.info(
                "The desktop entries cannot be read now: there is no descriptor left. Trying again.")
            return
        }
        soFar = nil
        for (path, complaint) in contents.complaints
        where complained.count < Self.maximumComplaints && complained.insert(path).inserted {
            brokerLog.warning(complaint)
        }
        brokerLog.debug("\(contents.applications.count) installed applications take part.")
        onChange(reading, true)
    }
}
