// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop

/// What the device at the other end of a link may do: nothing, but what is said here.
@MainLoop
final class LinkPolicy: AccessPolicy {
    /// Whether both sides have said that they are paired.
    var isPaired = false

    func decide(_ request: AccessRequest) -> AccessDecision {
        switch request.access {
        case .stranger: .allow
        case .paired where isPaired, .routed where isPaired: .allow
        default:
            .deny(
                .accessDenied(
                    "\(request.interface).\(request.member) is open to paired devices, which this one is not here."
                        + " Pair both devices with each other first."))
        }
    }
}
