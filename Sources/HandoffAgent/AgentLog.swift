// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// The log of the agent.
let agentLog = Log(domain: "handoff-agent")
