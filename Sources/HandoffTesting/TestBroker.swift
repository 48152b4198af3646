// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffKit

/// A broker in memory, for the tests of applications.
@MainActor
public final class TestBroker {
    /// A broker that knows nothing yet.
    public init() {}
}
