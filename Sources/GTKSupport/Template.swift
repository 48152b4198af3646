// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CAdwaita
package import GTKObjects

/// Widgets that are made from a template.
@MainActor
package final class Template {
    private let builder: GTKObject

    /// Makes the widgets of a template, which is XML as blueprint-compiler writes it.
    package init(_ xml: String) {
        builder = GTKObject(gtk_builder_new())
        var error: UnsafeMutablePointer<GError>?
        guard gtk_builder_add_from_string(builder.pointer, xml, -1, &error) != 0 else {
            // The compiler has checked it, so this is another version of GTK than the program was built for.
            preconditionFailure(error?.pointee.message.map { String(cString: $0) } ?? "a template is damaged")
        }
        handoff_say_names_once(builder.pointer)
    }

    /// The object that the template calls `name`.
    package subscript(name: String) -> GTKObject {
        guard let object = gtk_builder_get_object(builder.pointer, name) else {
            preconditionFailure("the template has no \(name)")
        }
        return GTKObject(object)
    }
}
