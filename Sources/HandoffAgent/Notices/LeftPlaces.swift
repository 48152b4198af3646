// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// Where an agent that was killed has left something on the screen. Unlike a number that a server gives, what a place is
/// called is known before anything is shown there: so it is written down before, and nothing that is sent is forgotten.
///
/// The file is in `$XDG_RUNTIME_DIR`, which is always local (XDG Base Directory Specification), and is written only when
/// something else is shown, so that no thread is needed for it. Without that folder nothing is written down.
@MainLoop
final class LeftPlaces {
    private let path: String?
    private var former: PlaceRecord
    private var record = PlaceRecord()

    /// What the last agent has written down.
    init() {
        let folder = Variables.all["XDG_RUNTIME_DIR"] ?? ""
        path = folder.hasPrefix("/") ? "\(folder)/handoff/notifications-by-name" : nil
        let bytes = path.flatMap { try? SmallFile.read($0, maximumSize: PlaceRecord.maximumSize) }
        former = bytes.flatMap { PlaceRecord($0) } ?? PlaceRecord()
    }

    /// The places in which nothing of this agent's is shown, but something of the last one's may be; told once.
    func take() -> [String] {
        defer { former = PlaceRecord() }
        return former.ids.filter { !record.ids.contains($0) }
    }

    /// Something is about to be shown in the place `id`, or is not shown there any more.
    func note(_ id: String, isShown: Bool) {
        guard record.ids.contains(id) != isShown else { return }
        record.note(id, isShown: isShown)
        guard let path else { return }
        // What the last agent has left is still to be taken back by the next one, should this one be killed before.
        var written = former
        for id in record.ids { written.note(id, isShown: true) }
        do throws(KeyFileError) {
            try SmallFile.write(written.bytes, to: path)
        } catch {
            agentLog.debug("What is shown is not written down for the next agent: \(error)")
        }
    }
}
