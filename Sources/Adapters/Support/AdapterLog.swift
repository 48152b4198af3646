// SPDX-License-Identifier: LGPL-2.1-or-later
package import Platform

/// What adapters tell the journal. Never what an application shows: titles, addresses and paths may be private.
package let adapterLog = Log(domain: "handoff-adapter")
