// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// What applications are called.
package struct ApplicationNames {
    private let find: (String) -> String?

    /// Names that `find` finds by the ids of applications, in the user's language; nil for one that is not installed.
    package init(_ find: @escaping (String) -> String?) { self.find = find }

    /// What to call the application `id`; fit to be shown. One that is not installed is called by its id.
    package func name(of id: String) -> String { ChosenText(title: find(id) ?? id).shown }
}
