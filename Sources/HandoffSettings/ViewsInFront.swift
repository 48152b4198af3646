// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import DBus
import GTKObjects

/// Says on the bus what the user looks at in this program, by names that it has meanwhile, so that no notification says the same
/// and covers it.
@MainActor
final class ViewsInFront {
    private let connection: OpaquePointer?
    private var numbers: [BusName: UInt32] = [:]

    /// The user looks at nothing of `application`.
    init(_ application: GTKObject) {
        connection = g_application_get_dbus_connection(UnsafeMutablePointer(application.pointer))
    }

    /// The user looks at what has this name, or does not.
    func set(_ name: BusName, isSeen: Bool) {
        guard let connection, isSeen == (numbers[name] == nil) else { return }
        if let number = numbers.removeValue(forKey: name) { return g_bus_unown_name(number) }
        numbers[name] = g_bus_own_name_on_connection(
            connection, name.text, G_BUS_NAME_OWNER_FLAGS_NONE, nil, nil, nil, nil)
    }
}
