// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import Platform

/// An entry of `UserInfo` as it is written on the command line: `KEY=STRING`, or `KEY:=VALUE` with the value in
/// GVariant text format.
struct UserInfoArgument: Equatable {
    let key: String
    let value: Value

    init(_ text: String) throws(CommandFailure) {
        guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
            throw .usage(
                tr("“{text}” is not of the form KEY=STRING or KEY:=GVARIANT-TEXT.", ["text": text.shown]))
        }
        let right = String(text[text.index(after: sign)...])
        var key = text[..<sign]
        if key.last == ":" {
            key.removeLast()
            value = try VariantText.value(of: right)
        } else {
            value = .string(right)
        }
        guard !key.isEmpty else {
            throw .usage(tr("“{text}” has no key before the “:=”.", ["text": text.shown]))
        }
        self.key = String(key)
    }

    /// The dictionary of several entries.
    static func userInfo(_ texts: [String]) throws(CommandFailure) -> [String: Value] {
        var userInfo: [String: Value] = [:]
        for text in texts {
            let entry = try UserInfoArgument(text)
            guard userInfo.updateValue(entry.value, forKey: entry.key) == nil else {
                throw .usage(tr("The key “{key}” is given twice.", ["key": entry.key.shown]))
            }
        }
        return userInfo
    }
}
