// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
package import MainLoop
package import Platform

/// Which adapters there are, in line with the descriptions and desktop entries of this machine. They are read on a thread,
/// one reading at a time, since a file system may not answer.
@MainLoop
package final class AdapterCatalogue {
    /// The adapters that are here and needed, by name; empty until they have been read.
    package private(set) var adapters: [InstalledAdapter] = []
    /// Called when ``adapters`` is another.
    package var onChange: (@MainLoop () -> Void)?

    private let log: Log
    private var schedule = ReadingSchedule() {
        didSet { timer.set(schedule.nextTime?.microseconds) }
    }
    private lazy var watch = FolderWatch { [weak self] in self?.schedule.changed(at: .now) }
    private lazy var timer = DeadlineTimer { [weak self] in self?.read() }
    private var complaints: Set<String> = []

    /// Says in `log` which are ignored.
    package init(log: Log) { self.log = log }

    /// Begins to read and to follow them.
    package func begin() { if schedule.nextTime == nil { read() } }

    private func read() {
        guard schedule.begin(at: .now) else { return }
        do {
            try BackgroundThread.start("adapters") {
                let reading = AdapterReading()
                MainLoop.start { [weak self] in self?.ended(reading) }
            }
        } catch {
            schedule.ended(isIncomplete: true, at: .now)
        }
    }

    private func ended(_ reading: AdapterReading) {
        watch.watch(reading.watched)
        schedule.ended(at: .now)
        for complaint in reading.complaints where !complaints.contains(complaint) { log.warning(complaint) }
        complaints = Set(reading.complaints)
        let needed = reading.adapters.filter(\.isNeeded)
        guard needed != adapters else { return }
        log.debug("\(needed.count) adapters are needed here.")
        adapters = needed
        onChange?()
    }
}
