// SPDX-License-Identifier: LGPL-2.1-or-later
@testable import HandoffInterfaces

/// Values that tests are made of.
enum Sample {
    /// What a few names of files stand for.
    static var fileNameTypes: FileNameTypes {
        var types = FileNameTypes()
        types.add("50:text/plain:*.txt\n50:application/pdf:*.pdf\n")
        return types
    }
}
