// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStarting
internal import MainLoop

/// Which of the files that players say they play are offered to other devices.
///
/// Only sound and moving pictures are, and of a player that was given something of another device, or plays what has come
/// from one, nothing but that: what came from there may lead the player to any file of the user, and offering it would hand
/// it over.
@MainLoop
final class OfferedFiles {
    /// Called when it has become known of a file whether it is offered, and others may be looked at.
    var onKnown: (@MainLoop () -> Void)?

    private let looks: FileLooks
    private var known: [String: MediaFile] = [:]
    /// The files that are being looked at, and who has named them.
    private var looking: [String: Set<ApplicationID>] = [:]
    /// What the user has chosen as the place for what comes from other devices.
    private var folders: [String] = []
    /// The same, and where each of them was really when a file was looked at.
    private var received = ReceivedFolders()
    /// What each application has of other devices, by its URL, since the adapter began.
    private var given: [ApplicationID: Set<String>] = [:]

    /// How many files are remembered, and how many are looked at at a time.
    private static let (maximumKnown, maximumLooking) = (64, 4)
    /// How much an application may have of other devices. What is more is not offered.
    private static let maximumGiven = 256

    /// Files are looked at by `looks`.
    init(_ looks: FileLooks) { self.looks = looks }

    /// `application` is about to be given `address`, which comes from another device.
    func give(_ address: MediaAddress, to application: ApplicationID) { give(address.url, to: application) }

    private func give(_ url: String, to application: ApplicationID) {
        guard given[application, default: []].count < Self.maximumGiven else { return }
        given[application, default: []].insert(url)
    }

    /// What comes from other devices is placed in `folder` from now on. Whoever plays something from there has got it from them,
    /// though nobody but the broker may have seen that.
    func receives(in folder: String) {
        guard !folders.contains(folder), folders.count < ReceivedFolders.maximum / 2 else { return }
        folders.append(folder)
        received.insert(folder)
        // Which of what was looked at before lies there is not known yet.
        known = [:]
    }

    /// What of `report`, which a player of `application` has made, counts: without the address if that is not to be
    /// offered, or as long as that is not known.
    func offered(_ report: PlayerReport, _ application: ApplicationID) -> PlayerReport {
        guard case .file(let url, let path)? = report.address else { return report }
        if received.hold(path) { give(url, to: application) }
        guard let file = known[path] else {
            look(at: path, url, for: application)
            return report.without()
        }
        if isReceived(file) { give(url, to: application) }
        if let given = given[application], !given.contains(url) { return report.without() }
        return file.mayGoOn ? report : report.without()
    }

    /// Whether the file at `path` may still be continued: it may have become another one since it was offered, or be where nobody can
    /// look at it in time. If it may not, it is offered no longer.
    func mayStillGoOn(_ path: String) async -> Bool {
        let file = try? await looks.find(.namedDocument, of: path) { MediaFile(path) }
        if file?.mayGoOn == true { return true }
        known[path] = file
        onKnown?()
        return false
    }

    private func isReceived(_ file: MediaFile) -> Bool { file.realPath.map(received.hold) ?? false }

    private func look(at path: String, _ url: String, for application: ApplicationID) {
        guard looking[path] != nil || looking.count < Self.maximumLooking else { return }
        let isUnderWay = looking[path] != nil
        looking[path, default: []].insert(application)
        if isUnderWay { return }
        MainLoop.start { [weak self, looks, folders] in
            // The user may have put a folder elsewhere by a link, also since the last time, and a player may say where it is
            // really. As long as that is not to be had, nothing is known of the file.
            let found = try? await looks.find(.namedDocument, of: path) {
                (MediaFile(path), folders.map { MediaFile.realPlace($0) })
            }
            guard let self else { return }
            let applications = looking.removeValue(forKey: path) ?? []
            if known.count >= Self.maximumKnown { known = [:] }
            // What does not answer in time is not offered, and looked at again when it is played again.
            guard let (file, places) = found else { return }
            for place in places { received.insert(place) }
            // By now there may be another folder.
            if folders == self.folders { known[path] = file }
            // By now they may play what it has led them to.
            if isReceived(file) { for one in applications { give(url, to: one) } }
            onKnown?()
        }
    }
}
