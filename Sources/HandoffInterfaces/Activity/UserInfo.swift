// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// The `UserInfo` of an activity, checked by ``UserInfoRules``: as the value that was received, or as bytes.
package struct UserInfo: Equatable {
    private enum Form: Equatable {
        case value(DictionaryValue)
        case packed(PackedProperties)
    }

    private var form = Form.packed(PackedProperties())
    /// The bytes that it takes as the body of a message that holds nothing else; 0 if it was never set.
    package let size: Int

    /// A `UserInfo` that was never set.
    package init() { size = 0 }

    /// A `UserInfo` that holds `value`.
    /// - Throws: what rule it breaks.
    package init(_ value: Value) throws(HandoffFailure) {
        guard let dictionary = value.sortedProperties else {
            throw ActivityState.wrongType("UserInfo", "a{sv}", value)
        }
        size = try UserInfoRules.check(dictionary)
        form = .value(dictionary)
    }

    /// This `UserInfo` as bytes, for keeping: as values it may take a hundred times as much memory.
    package func packed() throws(HandoffFailure) -> UserInfo {
        guard case .value(let dictionary) = form else { return self }
        var packed = self
        do throws(DBusError) {
            packed.form = .packed(try PackedProperties(dictionary))
        } catch {
            throw HandoffFailure(.invalidArguments, "UserInfo cannot be kept: \(error.message)")
        }
        return packed
    }

    /// Whether there is nothing in it, without unpacking it.
    package var isEmpty: Bool {
        switch form {
        case .value(let dictionary): dictionary.entries.isEmpty
        case .packed(let packed): packed.isEmpty
        }
    }

    /// Whether there may be tagged `file:` URLs in it, which is found out without unpacking it.
    package var mayHoldFileURLs: Bool {
        switch form {
        case .value: true
        case .packed(let packed): packed.mayHold(UserInfoRules.urlTag, beginning: FileURL.scheme)
        }
    }

    /// What it holds.
    package var value: Value {
        switch form {
        case .value(let dictionary): .dictionary(dictionary)
        // Whatever was put in can be taken out again: only a lack of memory could prevent that.
        case .packed(let packed): (try? packed.value()) ?? .properties([:])
        }
    }

    /// What it holds, by key.
    package var properties: [String: Value] {
        switch form {
        case .value(let dictionary): Value.dictionary(dictionary).properties ?? [:]
        case .packed(let packed): (try? packed.unpacked()) ?? [:]
        }
    }
}
