// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// What the bridge says of itself.
let bridgeLog = Log(domain: "handoff-bridge")
