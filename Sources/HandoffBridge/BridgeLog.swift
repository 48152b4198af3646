// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// What the bridge says of itself.
let bridgeLog = Log(domain: "handoff-bridge")
