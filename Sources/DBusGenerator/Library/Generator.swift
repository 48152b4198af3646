// SPDX-License-Identifier: LGPL-2.1-or-later

/// Makes Swift code from the files that declare D-Bus interfaces.
package enum Generator {
    /// The text of one Swift file with everything for the interfaces in `files`, one each. It depends on nothing
    /// but the files and their order.
    /// - Throws: the first thing that is wrong, with its file and line.
    package static func swift(from files: [SourceFile]) throws(GenerationError) -> String {
        var interfaces: [Interface] = []
        for file in files {
            let interface = try Interface(file)
            if let other = interfaces.first(where: { $0.name == interface.name }) {
                throw GenerationError(
                    path: file.path, line: interface.line,
                    reason: "the interface \(interface.name) is declared in \(other.path) already")
            }
            interfaces.append(interface)
        }
        try Interface.checkTypeNames(interfaces)
        var source = SourceText()
        source.line("// Generated from the interfaces' XML. Change that instead.")
        source.line("public import DBus")
        source.line("public import MainLoop")
        for interface in interfaces {
            source.line()
            source.line("// MARK: - \(interface.name)")
            source.line()
            interface.writeServer(to: &source)
            interface.writeBinding(to: &source)
            interface.writeProxy(to: &source)
            interface.writeSignals(to: &source)
        }
        return source.text
    }
}
