// SPDX-License-Identifier: LGPL-2.1-or-later
package import CGTK

/// An object of GTK, which lives at least as long as this value. Properties are reached by the names that GTK's documentation
/// and templates have; GTK itself says on standard error when there is no such property.
@MainActor
package final class GTKObject {
    /// The object.
    package let pointer: OpaquePointer

    /// Keeps `pointer` alive; a floating reference is taken over.
    package init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        g_object_ref_sink(UnsafeMutableRawPointer(pointer))
    }

    /// Keeps `object` alive; a floating reference is taken over.
    package convenience init(_ object: UnsafeMutablePointer<GObject>) { self.init(OpaquePointer(object)) }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// As functions of GObject take it.
    package var object: UnsafeMutablePointer<GObject> { UnsafeMutablePointer(pointer) }

    /// What GTK calls its type, such as `GtkText`.
    package var typeName: String {
        g_type_name_from_instance(UnsafeMutablePointer(pointer)).map { String(cString: $0) } ?? ""
    }

    // MARK: Properties

    /// Text; nil and empty text are the same here.
    package subscript(text name: String) -> String {
        get { get(name, .string) { g_value_get_string($0).map { String(cString: $0) } ?? "" } }
        set { set(name, .string) { g_value_set_string($0, newValue) } }
    }

    /// Whether something is so.
    package subscript(flag name: String) -> Bool {
        get { get(name, .boolean) { g_value_get_boolean($0) != 0 } }
        set {
            // A switch that is told what it is already gives up what its user has just begun.
            guard self[flag: name] != newValue else { return }
            set(name, .boolean) { g_value_set_boolean($0, newValue ? 1 : 0) }
        }
    }

    /// A whole number.
    package subscript(number name: String) -> Int {
        get { get(name, .int64) { Int(g_value_get_int64($0)) } }
        set { set(name, .int64) { g_value_set_int64($0, gint64(newValue)) } }
    }

    /// A number.
    package subscript(fraction name: String) -> Double {
        get { get(name, .double) { g_value_get_double($0) } }
        set { set(name, .double) { g_value_set_double($0, newValue) } }
    }

    /// Another object.
    package subscript(object name: String) -> GTKObject? {
        get { get(name, .object) { g_value_get_object($0).map { GTKObject(OpaquePointer($0)) } } }
        set {
            set(name, .object) {
                g_value_set_object($0, newValue.map { UnsafeMutableRawPointer($0.pointer) })
            }
        }
    }

    /// The fundamental types of GObject's values, which are macros in C.
    private enum Kind: GType {
        case boolean = 20
        case int64 = 40
        case double = 60
        case string = 64
        case object = 80
    }

    private func get<Result>(
        _ name: String, _ kind: Kind, _ read: (UnsafeMutablePointer<GValue>) -> Result
    ) -> Result {
        var value = GValue()
        g_value_init(&value, kind.rawValue)
        defer { g_value_unset(&value) }
        g_object_get_property(object, name, &value)
        return read(&value)
    }

    private func set(_ name: String, _ kind: Kind, _ write: (UnsafeMutablePointer<GValue>) -> Void) {
        var value = GValue()
        g_value_init(&value, kind.rawValue)
        defer { g_value_unset(&value) }
        write(&value)
        g_object_set_property(object, name, &value)
    }
}
