// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
package import HandoffCore

extension [String: Value] {
    /// The value of `key`, converted; nil if the key is not there.
    /// - Throws: `InvalidArgs` naming the key if its value is not of the type `signature`, which `convert` knows.
    package func listed<Type>(
        _ key: String, _ signature: String, _ convert: (Value) -> Type?
    ) throws(HandoffFailure) -> Type? {
        guard let found = self[key] else { return nil }
        guard let value = convert(found) else {
            throw HandoffFailure(
                .invalidArguments,
                "\(key) has the type \(found.typeSignature.prefix(64)). Give it the type \(signature).")
        }
        return value
    }
}
