// SPDX-License-Identifier: LGPL-2.1-or-later

/// `Introspect`: the interfaces with their documentation, and the children.
extension ObjectTree {
    func introspection(of path: ObjectPath, _ object: ExportedObject?, for caller: Caller) -> String {
        var xml = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>
            \(StandardXML.introspectable)\(StandardXML.peer)
            """
        if let object {
            xml += StandardXML.properties
            if managers[path] != nil { xml += StandardXML.objectManager }
            for binding in object.interfaces where isVisible(binding, of: object, to: caller) {
                xml += type(of: binding).description.xml
            }
        }
        for child in children(of: path, for: caller) { xml += "  <node name=\"\(child)\"/>\n" }
        return xml + "</node>\n"
    }

    private func children(of path: ObjectPath, for caller: Caller) -> [Substring] {
        var names: Set<Substring> = []
        for object in objects.values where object.isListed {
            guard let below = object.path.suffix(below: path), isVisible(object, to: caller) else { continue }
            names.insert(below.prefix { $0 != "/" })
        }
        return names.sorted()
    }
}

private enum StandardXML {
    static let introspectable = """
          <interface name="org.freedesktop.DBus.Introspectable">
            <method name="Introspect">
              <arg type="s" name="xml_data" direction="out"/>
            </method>
          </interface>

        """
    static let peer = """
          <interface name="org.freedesktop.DBus.Peer">
            <method name="Ping"/>
            <method name="GetMachineId">
              <arg type="s" name="machine_uuid" direction="out"/>
            </method>
          </interface>

        """
    static let properties = """
          <interface name="org.freedesktop.DBus.Properties">
            <method name="Get">
              <arg type="s" name="interface_name" direction="in"/>
              <arg type="s" name="property_name" direction="in"/>
              <arg type="v" name="value" direction="out"/>
            </method>
            <method name="GetAll">
              <arg type="s" name="interface_name" direction="in"/>
              <arg type="a{sv}" name="properties" direction="out"/>
            </method>
            <method name="Set">
              <arg type="s" name="interface_name" direction="in"/>
              <arg type="s" name="property_name" direction="in"/>
              <arg type="v" name="value" direction="in"/>
            </method>
            <signal name="PropertiesChanged">
              <arg type="s" name="interface_name"/>
              <arg type="a{sv}" name="changed_properties"/>
              <arg type="as" name="invalidated_properties"/>
            </signal>
          </interface>

        """
    static let objectManager = """
          <interface name="org.freedesktop.DBus.ObjectManager">
            <method name="GetManagedObjects">
              <arg type="a{oa{sa{sv}}}" name="objects" direction="out"/>
            </method>
            <signal name="InterfacesAdded">
              <arg type="o" name="object"/>
              <arg type="a{sa{sv}}" name="interfaces"/>
            </signal>
            <signal name="InterfacesRemoved">
              <arg type="o" name="object"/>
              <arg type="as" name="interfaces"/>
            </signal>
          </interface>

        """
}
