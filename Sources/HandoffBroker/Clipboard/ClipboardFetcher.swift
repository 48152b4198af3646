// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// Fetches what is in the clipboard of a peer, and checks it: nothing of it is believed.
@MainLoop
struct ClipboardFetcher {
    let peers: any PeerDirectory
    let files: ClipboardFiles
    let device: DeviceID

    /// What the device has sent under the id `sent`, or what is in its clipboard if that is nil; or of it what is of `kind`.
    func content(_ kind: ClipboardKind?, sent: ContinuationID?) async throws -> ClipboardContent {
        let answer: [String: Value]
        do {
            answer = try await peers.bridgePeer(device).fetchClipboard(
                type: kind?.rawValue ?? "", sent: sent?.description ?? "", timeout: Deadline.clipboard)
        } catch {
            throw HandoffFailure(routedToPeer: error)
        }
        let fetched = try understood { () throws(HandoffFailure) in try FetchedClipboard(answer) }
        let file: ClipboardFile
        switch fetched.bytes {
        case .here(let bytes): file = try ClipboardFile(bytes)
        case .document(let id):
            let reply = try await peers.bridgePeer(device).openDocument(
                continuation: id.description, timeout: Deadline.documentSilence)
            file = try await ClipboardReceiving.file(from: reply.stream, size: fetched.size)
        }
        let content = try understood { () throws(HandoffFailure) in
            try ClipboardContent(fetched.types, file).checked()
        }
        guard let content else { throw wrong("text that is no UTF-8, or an image that is no PNG") }
        guard kind.map({ content.kinds == [$0] }) ?? true else {
            throw wrong("something else than was asked for")
        }
        let here: ClipboardContent?
        do {
            here = try await files.incoming(content, answer)
        } catch {
            throw wrong(error.message)
        }
        guard let here else {
            throw HandoffFailure(
                .offerWithdrawn,
                "Nothing was copied there but files in folders that this device does not share. Share the folder on both."
            )
        }
        return here
    }

    /// What `read` makes of what the device has answered.
    private func understood<Result>(
        _ read: () throws(HandoffFailure) -> Result
    ) throws(HandoffFailure) -> Result {
        do throws(HandoffFailure) {
            return try read()
        } catch {
            throw error.code == .invalidArguments ? wrong(error.message) : error
        }
    }

    private func wrong(_ why: String) -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            "\(peers.name(of: device)) has not given its clipboard as it should: \(why). Copy it once more there."
        )
    }
}

extension HandoffFailure {
    /// The error of a call of the clipboard that the bridge passes on to a peer.
    init(routedToPeer error: any Error) {
        let isTooOld = (error as? DBusError)?.saysThatMemberIsMissing == true
        self =
            isTooOld
            ? HandoffFailure(
                .notSupported, "The Handoff of the other device is too old for that. Update it there.")
            : HandoffFailure(routed: error)
    }
}
