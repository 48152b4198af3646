// SPDX-License-Identifier: LGPL-2.1-or-later

/// To which devices something that was sent from here is on its way, so that it can be said what has become of it, and nothing
/// of what others have sent.
package struct OwnSends: Sendable {
    /// A device, as far as sending to it is concerned.
    package struct Device: Equatable, Sendable {
        /// Which one it is.
        package let id: String
        /// Whether something is on its way to it.
        package let isSending: Bool
        /// Why it did not take what was sent last, for people; empty if it did.
        package let error: String

        /// The device `id`.
        package init(id: String, isSending: Bool, error: String = "") {
            self.id = id
            self.isSending = isSending
            self.error = error
        }
    }

    private var underWay: Set<String> = []

    /// Nothing was sent.
    package init() {}

    /// What was sent to the device with this id is on its way.
    package mutating func began(_ id: String) { underWay.insert(id) }

    /// These devices are known now. One that is not among them takes nothing any more, which its user or ours has chosen.
    /// - Returns: those that did not take what was sent from here, each once.
    package mutating func update(_ devices: [Device]) -> [Device] {
        let arrived = devices.filter { underWay.contains($0.id) && !$0.isSending }
        underWay.formIntersection(devices.filter(\.isSending).map(\.id))
        return arrived.filter { !$0.error.isEmpty }
    }
}
