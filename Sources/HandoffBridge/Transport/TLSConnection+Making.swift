// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Platform

extension TLSConnection {
    /// A connection whose handshake has not begun.
    ///
    /// It is made from its properties: GIO's own constructors parse the certificates of the system's
    /// authorities each time, and only when it is made can it be told not to.
    static func make(
        _ side: Side, over socket: SocketConnection, _ certificate: Certificate
    ) throws -> ObjectReference<GTlsConnection> {
        let backend = g_tls_backend_get_default()
        guard g_tls_backend_supports_tls(backend) != 0 else {
            throw TLSFailure("GIO has no TLS here: the package glib-networking is missing")
        }
        let type: GType
        var properties = ObjectProperties()
        properties.add("base-io-stream", g_io_stream_get_type(), socket.reference.cast())
        properties.add("database", g_tls_database_get_type(), nil)
        properties.add("certificate", g_tls_certificate_get_type(), certificate.reference.cast())
        switch side {
        case .client: type = g_tls_backend_get_client_connection_type(backend)
        case .server:
            type = g_tls_backend_get_server_connection_type(backend)
            properties.add(
                "authentication-mode", g_tls_authentication_mode_get_type(),
                enumeration: Int32(G_TLS_AUTHENTICATION_REQUIRED.rawValue))
        }
        guard let object = properties.make(type) else { throw TLSFailure("no TLS connection could be made") }
        let raw = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GTlsConnection.self)
        let connection = ObjectReference(owning: raw)
        _ = try throwingGError { g_initable_init(OpaquePointer(connection.raw), nil, $0) }
        return connection
    }
}

/// Properties for the construction of a GObject, which C would pass as variable arguments.
private struct ObjectProperties {
    private var names: [StaticString] = []
    private var values: [GValue] = []

    /// Adds a property whose value is an object.
    mutating func add(_ name: StaticString, _ type: GType, _ object: UnsafeMutablePointer<GObject>?) {
        var value = GValue()
        g_value_init(&value, type)
        g_value_set_object(&value, object)
        names.append(name)
        values.append(value)
    }

    /// Adds a property whose value is one of an enumeration.
    mutating func add(_ name: StaticString, _ type: GType, enumeration: Int32) {
        var value = GValue()
        g_value_init(&value, type)
        g_value_set_enum(&value, enumeration)
        names.append(name)
        values.append(value)
    }

    /// A new object with these properties, to be called once.
    mutating func make(_ type: GType) -> UnsafeMutablePointer<GObject>? {
        var pointers = names.map { name -> UnsafePointer<CChar>? in
            UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        }
        defer { for index in values.indices { g_value_unset(&values[index]) } }
        return g_object_new_with_properties(type, guint(values.count), &pointers, &values)
    }
}
