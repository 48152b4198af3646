// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// How applications look to people.
@MainLoop
package protocol ApplicationFaces: AnyObject {
    /// The name and the icon of an installed application, in the form in which its desktop entry gives the icon; nil if
    /// there is no such application, or as long as it is not known. The agent shows its report again once it is.
    func face(of applicationID: String) -> (name: String, icon: String)?
}
