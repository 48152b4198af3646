// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FoundationEssentials
import Glibc
import HandoffClient
import HandoffCore
import HandoffKit
import Platform

/// What the program keeps, so that it lives as long as the program.
@MainActor var kept: [AnyObject] = []

/// Does with the kit what applications do with it, on the broker of the session.
@MainActor
func useKit() async {
    let backend = BusBackend()
    let application = HandoffApplication(
        ApplicationDeclaration(id: "com.example.notes", activityTypes: ["com.example.notes.edit"]),
        backend: backend)
    kept = [application]
    application.start()
    await wait(backend, "the registration") { application.isRegistered }
    await saveAndContinue(application, backend)
    await useStream(backend)
    let document = DocumentActivity(
        url: URL(string: "file:///tmp/note.txt"), contentType: nil, application: application)
    document.becomeCurrent()
    await wait(backend, "the document's activity") { document.userActivity?.isCurrent == true }
    document.close()
    await wait(backend, "its end") { document.userActivity == nil }
}

/// Waits until `condition` holds, without anything that uses a thread of libdispatch's pool.
@MainActor
private func wait(_ backend: BusBackend, _ what: String, _ condition: () -> Bool) async {
    for _ in 0..<2000 where !condition() {
        let pause = Handover<Void, Never>()
        _ = backend.timer(after: .milliseconds(5)) { pause.resume() }
        await pause.take()
    }
    check(condition(), "\(what) has not come")
}

@MainActor
private func saveAndContinue(_ application: HandoffApplication, _ backend: BusBackend) async {
    let activity = UserActivity(title: "Note", application: application)
    kept.append(activity)
    activity.onWillSave {
        check(isFirstThread, "whoever is told by the kit")
        $0.userInfo["isSaved"] = true
    }
    activity.becomeCurrent()
    activity.needsSave = true
    await wait(backend, "a save") { activity.userInfo["isSaved"] == true && activity.isCurrent }
    let progress = Progress()
    application.onContinue { activity, _ in
        check(activity.title == "Continued", activity.title)
        progress.done += 1
        do {
            _ = try await activity.continuationStream()
            check(false, "a stream of a continuation that is none")
        } catch {}
        return true
    }
    application.isReady = false
    Task {
        let device = ContinuationDevice(id: String(repeating: "e", count: 64), name: "Desk")
        let isHandled = try? await application.continueActivity(
            ContinuationKey(1),
            ["ActivityType": .string("com.example.notes.edit"), "Title": .string("Continued")],
            from: device, activationToken: "")
        check(isHandled == true, "what was kept is handled")
        progress.done += 1
    }
    await wait(backend, "an activity that is kept") { application.pending.count == 1 }
    application.isReady = true
    await wait(backend, "its continuation") { progress.done == 2 }
    activity.webpageURL = URL(string: "https://example.org/")
    activity.invalidate()
}

/// How far streams have got.
@MainActor
private final class Progress {
    var bytes = 0
    var done = 0
}

/// Sends much through a stream, both ways, and reads it.
@MainActor
private func useStream(_ backend: BusBackend) async {
    var ends: (CInt, CInt) = (-1, -1)
    let made = withUnsafeMutablePointer(to: &ends) { pointer in
        pointer.withMemoryRebound(to: CInt.self, capacity: 2) {
            socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, $0)
        }
    }
    check(made == 0, "a socket pair")
    let (near, far) = (ContinuationStream(owning: ends.0), ContinuationStream(owning: ends.1))
    let (much, progress) = (Data(count: 5_000_000), Progress())
    for (from, to) in [(near, far), (far, near)] {
        Task {
            try? await from.write(much)
            try? await from.finishWriting()
            progress.done += 1
        }
        Task {
            do {
                for try await piece in to.bytes { progress.bytes += piece.count }
            } catch {
                check(false, "\(error)")
            }
            progress.done += 1
        }
    }
    await wait(backend, "the end of a stream") { progress.done == 4 }
    check(progress.bytes == 2 * much.count, "\(progress.bytes) bytes have come")
}
