// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// The code and the message of the failure that `body` throws; nil if it throws none.
package func failure(of body: () throws -> Void) -> HandoffFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? HandoffFailure
    }
}

extension Value {
    /// `value` in as many variants as `depth`.
    package static func nested(_ value: Value, depth: Int) -> Value {
        depth == 0 ? value : .variant(nested(value, depth: depth - 1))
    }
}
