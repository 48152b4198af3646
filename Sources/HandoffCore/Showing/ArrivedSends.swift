// SPDX-License-Identifier: LGPL-2.1-or-later

/// What of what was sent to devices that were away has just arrived there, so that its sender can be told, once.
package struct ArrivedSends: Sendable {
    /// Something that waits for a device.
    package struct Item: Equatable, Sendable {
        /// By what it is known again.
        package let id: String
        /// Whether the device was told of it.
        package let hasArrived: Bool

        /// The item `id`.
        package init(id: String, hasArrived: Bool) { (self.id, self.hasArrived) = (id, hasArrived) }
    }

    /// What has not arrived yet.
    private var away: Set<String> = []

    /// Nothing was sent.
    package init() {}

    /// These wait now. What has arrived before it was known that it waits is old news.
    /// - Returns: what has arrived since the last time.
    package mutating func update(_ items: [Item]) -> [String] {
        let arrived = items.filter { $0.hasArrived && away.contains($0.id) }.map(\.id)
        away = Set(items.filter { !$0.hasArrived }.map(\.id))
        return arrived
    }
}
