// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// What the broker tells the journal.
let brokerLog = Log(domain: "handoff-broker")
