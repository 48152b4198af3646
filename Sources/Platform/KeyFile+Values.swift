// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

extension KeyFile {
    // MARK: Reading

    /// The text of `key`, nil if there is no such key.
    /// - Throws: if its value is not text.
    package func string(_ key: String, in group: String) throws(KeyFileError) -> String? {
        try checkEscapes(key, in: group, allowed: "sntr\\")
        let text = try value(key, in: group) { g_key_file_get_string(raw, group, key, $0) } ?? nil
        defer { g_free(text) }
        return text.map { String(cString: $0) }
    }

    /// The text of `key` in the language of the environment, else as it stands without a language; nil if there is no
    /// such key.
    /// - Throws: if its value is not text.
    package func localizedString(_ key: String, in group: String) throws(KeyFileError) -> String? {
        try checkEscapes(key, in: group, allowed: "sntr\\")
        let text = try value(key, in: group) { g_key_file_get_locale_string(raw, group, key, nil, $0) } ?? nil
        defer { g_free(text) }
        return text.map { String(cString: $0) }
    }

    /// The whole number of `key`, nil if there is no such key.
    /// - Throws: if its value is not a whole number.
    package func integer(_ key: String, in group: String) throws(KeyFileError) -> Int64? {
        try value(key, in: group) { Int64(g_key_file_get_int64(raw, group, key, $0)) }
    }

    /// The truth value of `key`, nil if there is no such key.
    /// - Throws: if its value is neither `true` nor `false`.
    package func boolean(_ key: String, in group: String) throws(KeyFileError) -> Bool? {
        try value(key, in: group) { g_key_file_get_boolean(raw, group, key, $0) != 0 }
    }

    /// The list of texts of `key`, nil if there is no such key.
    /// - Throws: if one of them is not text.
    package func strings(_ key: String, in group: String) throws(KeyFileError) -> [String]? {
        try checkEscapes(key, in: group, allowed: "sntr\\;")
        var count: gsize = 0
        let list = try value(key, in: group) { g_key_file_get_string_list(raw, group, key, &count, $0) }
        return list.map { Self.strings($0) }
    }

    /// Throws if a backslash in the value of `key` comes before anything but the characters `allowed`:
    /// GKeyFile sets an error for each of them, one on top of the other.
    private func checkEscapes(_ key: String, in group: String, allowed: String) throws(KeyFileError) {
        let text = g_key_file_get_value(raw, group, key, nil)
        defer { g_free(text) }
        guard let text else { return }
        var rest = String(cString: text).utf8[...]
        while let backslash = rest.firstIndex(of: UInt8(ascii: "\\")) {
            rest = rest[backslash...].dropFirst()
            guard let escaped = rest.popFirst(), allowed.utf8.contains(escaped) else {
                throw KeyFileError(
                    "\(name), group [\(group)], key \(key): a backslash begins no escape sequence there.")
            }
        }
    }

    private func value<Result>(
        _ key: String, in group: String,
        _ get: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result
    ) throws(KeyFileError) -> Result? {
        do throws(GLibError) {
            return try throwingGError(get)
        } catch {
            let absent = [G_KEY_FILE_ERROR_KEY_NOT_FOUND.rawValue, G_KEY_FILE_ERROR_GROUP_NOT_FOUND.rawValue]
            if error.domain == g_key_file_error_quark(), absent.contains(UInt32(error.code)) { return nil }
            throw KeyFileError("\(name), group [\(group)], key \(key): \(error.message)")
        }
    }

    // MARK: Writing

    /// Sets `key` to a text without NUL. A form feed at the beginning of the text is lost, since GKeyFile
    /// does not escape it.
    package func set(_ key: String, in group: String, to value: String) {
        g_key_file_set_string(raw, group, key, value)
    }

    /// Sets `key` to a whole number.
    package func set(_ key: String, in group: String, to value: Int64) {
        g_key_file_set_int64(raw, group, key, gint64(value))
    }

    /// Sets `key` to a truth value.
    package func set(_ key: String, in group: String, to value: Bool) {
        g_key_file_set_boolean(raw, group, key, value ? 1 : 0)
    }

    /// Sets `key` to a list of texts.
    package func set(_ key: String, in group: String, to values: [String]) {
        let copies = values.map { g_strdup($0) }
        defer { for copy in copies { g_free(copy) } }
        let pointers = copies.map { UnsafePointer<gchar>($0) }
        pointers.withUnsafeBufferPointer {
            g_key_file_set_string_list(raw, group, key, $0.baseAddress, gsize(values.count))
        }
    }
}
