// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import HandoffCore
internal import Platform

/// D-Bus values in GLib's text format for variants (GVariant Text Format), which keeps their types.
enum VariantText {
    /// The value that `text` writes down, e.g. `<uint32 5>`, `[1, 2]` or `('date', <int64 0>)`.
    /// - Throws: what GLib says about the text, or which type D-Bus does not have.
    static func value(of text: String) throws(CommandFailure) -> Value {
        do {
            let variant = try throwingGError { g_variant_parse(nil, text, nil, nil, $0) }
            guard let variant else { throw CommandFailure(tr("nothing could be read")) }
            defer { g_variant_unref(variant) }
            return try value(variant)
        } catch {
            throw .usage(
                tr(
                    "“{text}” is not a value in GVariant text format: {reason}",
                    ["text": text.shown, "reason": CommandFailure(error).message]))
        }
    }

    /// `value` in this format, with its types.
    static func text(of value: Value) -> String {
        guard let variant = variant(value) else { return "" }
        g_variant_ref_sink(variant)
        defer { g_variant_unref(variant) }
        guard let text = g_variant_print(variant, 1) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    // MARK: Reading

    private static func value(_ variant: OpaquePointer) throws(DBusError) -> Value {
        let type = String(cString: g_variant_get_type_string(variant))
        switch g_variant_classify(variant) {
        case G_VARIANT_CLASS_BYTE: return .byte(g_variant_get_byte(variant))
        case G_VARIANT_CLASS_BOOLEAN: return .boolean(g_variant_get_boolean(variant) != 0)
        case G_VARIANT_CLASS_INT16: return .int16(g_variant_get_int16(variant))
        case G_VARIANT_CLASS_UINT16: return .uint16(g_variant_get_uint16(variant))
        case G_VARIANT_CLASS_INT32: return .int32(g_variant_get_int32(variant))
        case G_VARIANT_CLASS_UINT32: return .uint32(g_variant_get_uint32(variant))
        case G_VARIANT_CLASS_INT64: return .int64(Int64(g_variant_get_int64(variant)))
        case G_VARIANT_CLASS_UINT64: return .uint64(UInt64(g_variant_get_uint64(variant)))
        case G_VARIANT_CLASS_DOUBLE: return .double(g_variant_get_double(variant))
        case G_VARIANT_CLASS_STRING: return .string(string(variant))
        case G_VARIANT_CLASS_OBJECT_PATH: return .objectPath(try ObjectPath(string(variant)))
        case G_VARIANT_CLASS_SIGNATURE: return .signature(try Signature(string(variant)))
        case G_VARIANT_CLASS_VARIANT: return .variant(try onlyChild(of: variant))
        case G_VARIANT_CLASS_TUPLE: return try .structure(try children(of: variant))
        case G_VARIANT_CLASS_ARRAY where type.hasPrefix("a{"): return try dictionary(variant, type)
        case G_VARIANT_CLASS_ARRAY: return try .array(of: String(type.dropFirst()), try children(of: variant))
        default:
            throw .invalidArgs(tr("D-Bus values of the type “{type}” cannot be sent here.", ["type": type]))
        }
    }

    private static func string(_ variant: OpaquePointer) -> String {
        String(cString: g_variant_get_string(variant, nil))
    }

    private static func child(_ variant: OpaquePointer, _ index: Int) throws(DBusError) -> Value {
        guard let child = g_variant_get_child_value(variant, gsize(index)) else {
            throw .invalidArgs(tr("Element {number} cannot be read.", ["number": "\(index)"]))
        }
        defer { g_variant_unref(child) }
        return try value(child)
    }

    private static func onlyChild(of variant: OpaquePointer) throws(DBusError) -> Value {
        try child(variant, 0)
    }

    private static func children(of variant: OpaquePointer) throws(DBusError) -> [Value] {
        var values: [Value] = []
        for index in 0..<Int(g_variant_n_children(variant)) { values.append(try child(variant, index)) }
        return values
    }

    private static func dictionary(_ variant: OpaquePointer, _ type: String) throws(DBusError) -> Value {
        var entries: [(key: Value, value: Value)] = []
        for index in 0..<Int(g_variant_n_children(variant)) {
            guard let entry = g_variant_get_child_value(variant, gsize(index)) else { continue }
            defer { g_variant_unref(entry) }
            entries.append((try child(entry, 0), try child(entry, 1)))
        }
        // a{KV}: the key is one character.
        let inner = type.dropFirst(2).dropLast()
        return try .dictionary(key: String(inner.prefix(1)), value: String(inner.dropFirst()), entries)
    }

    // MARK: Writing

    /// `value` as a GVariant, with a floating reference.
    private static func variant(_ value: Value) -> OpaquePointer? {
        switch value {
        case .byte(let number): return g_variant_new_byte(number)
        case .boolean(let flag): return g_variant_new_boolean(flag ? 1 : 0)
        case .int16(let number): return g_variant_new_int16(number)
        case .uint16(let number): return g_variant_new_uint16(number)
        case .int32(let number): return g_variant_new_int32(number)
        case .uint32(let number): return g_variant_new_uint32(number)
        case .int64(let number): return g_variant_new_int64(gint64(number))
        case .uint64(let number): return g_variant_new_uint64(guint64(number))
        case .double(let number): return g_variant_new_double(number)
        case .string(let text): return g_variant_new_string(text)
        case .objectPath(let path): return g_variant_new_object_path(path.text)
        case .signature(let signature): return g_variant_new_signature(signature.text)
        case .bytes(let bytes): return array(of: "y", bytes.map { g_variant_new_byte($0) })
        case .array(let array): return Self.array(of: array.elementSignature, array.elements.map(variant))
        case .dictionary(let dictionary):
            let entries = dictionary.entries.map {
                g_variant_new_dict_entry(variant($0.key), variant($0.value))
            }
            return array(of: "{\(dictionary.keySignature)\(dictionary.valueSignature)}", entries)
        case .structure(let structure):
            let fields = structure.fields.map(variant)
            return g_variant_new_tuple(fields, gsize(fields.count))
        case .variant(let content): return g_variant_new_variant(variant(content))
        }
    }

    private static func array(of signature: String, _ elements: [OpaquePointer?]) -> OpaquePointer? {
        let type = g_variant_type_new(signature)
        defer { g_variant_type_free(type) }
        return g_variant_new_array(type, elements, gsize(elements.count))
    }
}
