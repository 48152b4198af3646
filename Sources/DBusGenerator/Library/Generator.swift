// SPDX-License-Identifier: LGPL-2.1-or-later

/// Makes Swift code from the files that declare D-Bus interfaces.
package enum Generator {
    /// The texts of Swift files with everything for the interfaces in `files`, one for each. They depend on nothing but the
    /// files.
    /// - Throws: the first thing that is wrong, with its file and line.
    package static func swift(from files: [SourceFile]) throws(GenerationError) -> [String] {
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
        return interfaces.map { interface in
            var source = SourceText()
            source.line("// Generated from the XML of \(interface.name). Change that instead.")
            source.line("package import DBus")
            source.line("package import MainLoop")
            source.line()
            interface.writeServer(to: &source)
            interface.writeBinding(to: &source)
            interface.writeProxy(to: &source)
            interface.writeSignals(to: &source)
            return source.text
        }
    }
}
