// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffAgent
import Testing

@Suite("The agent")
struct AgentTests {
}
