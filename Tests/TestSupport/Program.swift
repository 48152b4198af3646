// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Foundation

/// Where the program `name` of this package has been built.
package func program(_ name: String) -> String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: name).path
}
