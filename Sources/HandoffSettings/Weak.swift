// SPDX-License-Identifier: LGPL-2.1-or-later

/// Where parts that are made before their owner find it.
@MainActor
final class Weak<Owner: AnyObject> {
    weak var value: Owner?
}
