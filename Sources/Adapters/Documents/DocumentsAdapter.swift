// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport
internal import HandoffInterfaces

/// The adapter `documents`: documents are continued at the same page in the same viewer, folders that both devices share in the file
/// manager.
package enum DocumentsAdapter {
    /// The team of the applications.
    static let team = HandoffNames.team("Documents")
    /// Something that has pages is read.
    static let reading = "org.example.Handoff.ReadingDocument"
    /// A folder is looked at.
    static let browsing = "org.example.Handoff.BrowsingFolder"

    /// The adapter as a program.
    package static let program = AdapterProgram("documents") { arguments in
        AdapterService.run(
            "documents", busName: HandoffNames.documentsAdapter,
            summary: "Continue documents and folders of applications that do not know Handoff.",
            arguments: arguments,
            make: { service, _ in try Documents(service) },
            begin: { $0.begin() })
    }
}

/// The keys of `UserInfo` of what is read, and of what is looked at.
enum DocumentKey {
    /// The application, by its id (`s`).
    static let application = "application"
    /// The page, counted from 1 (`x`); missing where it is not known.
    static let page = "page"
    /// The folder, a tagged URL.
    static let folder = "folder"
}
