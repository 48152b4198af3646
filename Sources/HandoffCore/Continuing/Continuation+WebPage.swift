// SPDX-License-Identifier: LGPL-2.1-or-later

extension Continuation {
    /// Gives the web page to the browser instead of an application that would get it for its site's sake, if the address
    /// that was fetched is of a kind that no site can give away. The offer had only named the host.
    mutating func turnToBrowser(unlessAllowedBy fetched: Fetched) -> [Action] {
        guard getsPageAlone, !fetched.pageMayBeClaimed, case .preparing = state else { return [] }
        let told: [Action] = isAwaited ? [.tellApplicationFailed(.notItsPage(offer))] : []
        (target, getsPageAlone, isLetGo) = (.browser(nil), false, true)
        state = .preparing(.notNeeded)
        return told
    }

    /// Whether an application waits for the activity.
    var isAwaited: Bool {
        switch state {
        case .preparing(.asked), .preparing(.ready): true
        default: false
        }
    }
}
