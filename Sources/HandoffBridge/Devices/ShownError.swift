// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// Why something has failed, as the bus is shown it: the name of an error, by which programs know what to say in their users'
/// language, and a text for people.
struct ShownError: Equatable {
    /// Empty if nothing has failed.
    let name: String
    /// Empty if nothing has failed.
    let text: String

    /// Nothing has failed.
    static let none = ShownError(name: "", text: "")

    private init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    /// The error `name`.
    init(_ name: ErrorName, _ text: String) { self.init(name: name.text, text: text) }

    /// A failure of ours, or of a peer.
    init(_ failure: HandoffFailure) { self.init(failure.code.errorName, failure.message) }

    /// What has become of pairing.
    init(_ failure: PairingFailure) {
        let name: ErrorName =
            switch failure.kind {
            case .ended: HandoffFailure.Code.cancelled.errorName
            case .timedOut: .timeout
            case .disconnected: HandoffFailure.Code.connectionUnavailable.errorName
            case .disabled: HandoffFailure.Code.disabled.errorName
            case .notStored: .failed
            case .refused: HandoffFailure.Code.pairingFailed.errorName
            }
        self.init(name, failure.message)
    }

    /// The names of the properties that differ from those of `other`, where `property` has the text.
    func changes(from other: ShownError, _ property: String) -> [String] {
        (text == other.text ? [] : [property]) + (name == other.name ? [] : [property + "Name"])
    }
}
