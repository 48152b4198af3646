// SPDX-License-Identifier: LGPL-2.1-or-later
import DBusGeneratorLibrary

/// Files for tests to generate from.
enum Sample {
    /// A small interface with one of each.
    static let notes = """
        <?xml version="1.0" encoding="UTF-8"?>
        <node>
          <!--
            A list of "notes" & more.

            Kept by its owner.
          -->
          <interface name="com.example.Notes">
            <annotation name="org.example.Handoff.Access" value="any"/>
            <!-- Adds a note. -->
            <method name="Add">
              <!-- Its text. -->
              <arg type="s" name="note_text" direction="in"/>
              <!-- Its number. -->
              <arg type="u" name="number" direction="out"/>
            </method>
            <!-- How many there are. -->
            <property name="Count" type="u" access="read">
              <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
            </property>
            <!-- Whether notes can be added. -->
            <property name="Locked" type="b" access="readwrite">
              <annotation name="org.example.Handoff.WriteAccess" value="owner"/>
            </property>
            <!-- A note is there. -->
            <signal name="Added">
              <arg type="u" name="number"/>
            </signal>
          </interface>
        </node>
        """

    /// A file with one interface that holds `members`, from line 4 on.
    static func file(_ members: String, name: String = "com.example.Test") -> SourceFile {
        file(
            text: """
                <node><!-- Documented. -->
                <interface name="\(name)">
                <annotation name="org.example.Handoff.Access" value="any"/>
                \(members)
                </interface></node>
                """)
    }

    /// A file with this text.
    static func file(text: String, path: String = "test.xml") -> SourceFile {
        SourceFile(path: path, bytes: [UInt8](text.utf8))
    }
}
