// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffDaemon

extension ContinuationRunner {
    /// Waits until the document has been synchronised to this machine.
    func awaitDocument() async {
        perform(machine.documentFailed(Self.noDocuments, at: .now))
    }

    /// Brings the document over from the origin.
    func bringDocument() async {
        perform(machine.documentFailed(Self.noDocuments, at: .now))
    }

    /// Opens the document with what the user opens such documents with.
    func openDocument() async {
        perform(machine.openFailed(Self.noDocuments))
    }

    private static let noDocuments = HandoffFailure(
        .notSupported, "This version of Handoff brings no documents over.")
}
