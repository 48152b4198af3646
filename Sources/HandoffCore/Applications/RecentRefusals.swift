// SPDX-License-Identifier: LGPL-2.1-or-later

/// What programs of this session were refused, for whoever looks for the reason why something does not appear: the last
/// refusal of each of 32 programs.
package struct RecentRefusals: Sendable {
    /// One refusal.
    package struct Refusal: Hashable, Sendable {
        /// When, in microseconds since the Unix epoch.
        package let time: Int64
        /// The unique name of the connection that called.
        package let connection: String
        /// Its process, 0 if that is not known.
        package let process: UInt32
        /// What it had registered; empty if nothing.
        package let applicationID: String
        /// The method.
        package let member: String
        /// The D-Bus name of the error.
        package let error: String
        /// What was wrong, and what to do.
        package let message: String

        /// A refusal.
        package init(
            time: Int64, connection: String, process: UInt32, applicationID: String, member: String,
            error: String, message: String
        ) {
            (self.time, self.connection, self.process) = (time, connection, process)
            (self.applicationID, self.member, self.error) = (applicationID, member, error)
            self.message = message
        }
    }

    /// The refusals, the latest first.
    package private(set) var all: [Refusal] = []
    /// For how many programs they are kept.
    private static let maximum = 32

    /// Nobody was refused anything.
    package init() {}

    /// A program was refused something, in place of what it was refused before.
    package mutating func add(_ refusal: Refusal) {
        all.removeAll { $0.connection == refusal.connection }
        all.insert(refusal, at: 0)
        if all.count > Self.maximum { all.removeLast() }
    }
}
