// SPDX-License-Identifier: LGPL-2.1-or-later

/// What a desktop gives to who is to raise a window: a token of XDG activation, or a startup id.
enum ActivationToken {
    /// They are handed on into the environment of programs, and are never longer.
    private static let maximumLength = 256

    /// `token` if it can be one, nil if not.
    static func checked(_ token: String?) -> String? {
        guard let token, !token.isEmpty, token.utf8.count <= maximumLength,
            token.utf8.allSatisfy({ 0x20...0x7E ~= $0 })
        else { return nil }
        return token
    }
}
