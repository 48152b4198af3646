// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffKit

extension HandoffError {
    /// Why something has not come, as a person understands it. The ``message`` of what is gone names it as programs know it.
    var reason: String {
        switch code {
        case .offerWithdrawn, .unknownObject: "It is no longer there."
        default: message
        }
    }
}
