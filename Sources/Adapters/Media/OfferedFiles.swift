// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStarting
internal import MainLoop

/// Which of the files that players say they play are offered to other devices.
///
/// Only sound and moving pictures are, and of a player that was given something of another device nothing but that: what
/// came from there may lead the player to any file of the user, and offering it would hand it over.
@MainLoop
final class OfferedFiles {
    /// Called when it has become known of a file whether it is offered, and others may be looked at.
    var onKnown: (@MainLoop () -> Void)?

    private let looks: FileLooks
    private var known: [String: Bool] = [:]
    private var looking: Set<String> = []
    /// What each application was given, by its URL, since the adapter began.
    private var given: [ApplicationID: Set<String>] = [:]

    /// How many files are remembered, and how many are looked at at a time.
    private static let (maximumKnown, maximumLooking) = (64, 4)

    /// Files are looked at by `looks`.
    init(_ looks: FileLooks) { self.looks = looks }

    /// `application` is about to be given `address`, which comes from another device.
    func give(_ address: MediaAddress, to application: ApplicationID) {
        given[application, default: []].insert(address.url)
    }

    /// What of `report`, which a player of `application` has made, counts: without the address if that is not to be
    /// offered, or as long as that is not known.
    func offered(_ report: PlayerReport, _ application: ApplicationID) -> PlayerReport {
        guard case .file(let url, let path)? = report.address else { return report }
        if let given = given[application], !given.contains(url) { return report.without() }
        if let isOffered = known[path] { return isOffered ? report : report.without() }
        look(at: path)
        return report.without()
    }

    private func look(at path: String) {
        guard looking.count < Self.maximumLooking, looking.insert(path).inserted else { return }
        MainLoop.start { [weak self, looks] in
            let isOffered = try? await looks.find(.namedDocument, of: path) { MediaFile.mayGoOn(path) }
            guard let self else { return }
            looking.remove(path)
            if known.count >= Self.maximumKnown { known = [:] }
            // What does not answer in time is not offered, and looked at again when it is played again.
            guard let isOffered else { return }
            known[path] = isOffered
            onKnown?()
        }
    }
}
