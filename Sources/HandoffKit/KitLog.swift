// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// What the kit tells an application's author.
let kitLog = Log(domain: "handoff-kit")
