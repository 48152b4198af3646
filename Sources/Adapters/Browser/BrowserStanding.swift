// SPDX-License-Identifier: LGPL-2.1-or-later

/// How things stand between a browser and Handoff, as its add-on is told.
enum BrowserStanding: String, Equatable, Sendable {
    /// Pages are continued elsewhere.
    case ready
    /// The user has switched Handoff off.
    case off
    /// The user has switched the adapter of browsers off.
    case disabled
    /// The user keeps this browser out.
    case excluded
    /// There is no broker.
    case absent
    /// The browser takes part itself.
    case replaced

    /// Whether what is in the browser may be looked at.
    var mayRead: Bool { self == .ready || self == .off }
}
