// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import MainLoop
import TestSupport

@testable import HandoffBridge

/// What the parts of a bridge share, in a folder of its own, while Handoff is on.
@MainLoop
final class TestState {
    let state: BridgeState
    private let folder: TemporaryDirectory
    private let log: Lines

    /// What was logged of refusals.
    @MainLoop
    private final class Lines { var all: [String] = [] }

    init() throws {
        (folder, log) = (try TemporaryDirectory(), Lines())
        state = BridgeState(
            try Identity(pem: KeyMaker.makeIdentity()), TrustStore(in: StateFolder(folder.path("state"))),
            Refusals { [log] in log.all.append($0) })
        state.handoff = .on
    }

    var refusals: [String] { log.all }
}
