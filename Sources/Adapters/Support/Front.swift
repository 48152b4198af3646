// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
package import HandoffCore
internal import HandoffInterfaces

/// Which window of an adapter's applications the user works in.
package enum Front: Equatable, Sendable {
    /// Nobody tells: whatever has changed last counts as what the user is at.
    case unknown
    /// None of them.
    case none
    /// This one.
    case window(FocusedWindow)

    /// What `dictionary` says, which is what the agent tells.
    /// - Throws: `InvalidArgs`, naming the key that is not what it should be.
    package static func described(by dictionary: [String: Value]) throws(HandoffFailure) -> Front {
        var dictionary = dictionary
        let known = dictionary.removeValue(forKey: "Known") ?? .boolean(true)
        guard case .boolean(let isKnown) = known else { throw ActivityState.wrongType("Known", "b", known) }
        let window = try FocusedWindow.described(by: dictionary)
        guard isKnown else { return .unknown }
        return window.map { .window($0) } ?? .none
    }
}
