// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import PackagePlugin

/// Generates the D-Bus interfaces into the target that uses it: those of other projects in the folder `Interfaces` of the
/// target, if it has one, else our own in `data/dbus-1/interfaces` of the package.
@main
struct DBusGeneratorPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let ours = context.package.directoryURL.appending(path: "data/dbus-1/interfaces")
        let foreign = (target as? any SourceModuleTarget)?.directoryURL.appending(path: "Interfaces")
        let folder =
            foreign.flatMap { FileManager.default.fileExists(atPath: $0.path) ? $0 : nil } ?? ours
        let files = try FileManager.default
            .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "xml" }
            .sorted { $0.path < $1.path }
        let output = context.pluginWorkDirectoryURL
        return [
            .buildCommand(
                displayName: "Generating D-Bus interfaces",
                executable: try context.tool(named: "dbus-generator").url,
                arguments: [output.path] + files.map(\.path),
                inputFiles: [folder] + files,
                outputFiles: files.map { file in
                    output.appending(path: "\(file.deletingPathExtension().lastPathComponent).swift")
                })
        ]
    }
}
