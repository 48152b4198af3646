// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import PackagePlugin

/// Compiles the templates in `Templates` of the target that uses it into an enumeration of that name.
@main
struct TemplateGeneratorPlugin: BuildToolPlugin {
    /// One command for all templates of `target`.
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let folder = target.directoryURL.appending(path: "Templates")
        let files = try FileManager.default
            .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "blp" }
            .sorted { $0.path < $1.path }
        let output = context.pluginWorkDirectoryURL.appending(path: "Templates.swift")
        return [
            .buildCommand(
                displayName: "Compiling templates",
                executable: try context.tool(named: "template-generator").url,
                arguments: [output.path] + files.map(\.path),
                inputFiles: [folder] + files,
                outputFiles: [output])
        ]
    }
}
