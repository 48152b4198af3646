// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// What the broker tells the journal.
let brokerLog = Log(domain: "handoff-broker")

/// Says that an activity came with something that is no property of it.
func sayIgnored(_ key: String) {
    brokerLog.debug("The unknown key \(PeerText.message(key)) of an activity is ignored.")
}
