// SPDX-License-Identifier: LGPL-2.1-or-later

extension Sequence {
    /// What `transform` makes of the first element of which it makes anything; nil if there is none.
    ///
    /// It is called once for each element. `lazy.compactMap(_:).first` calls it twice for the one that it finds, and traps if that
    /// makes nothing of it by then, as may be where a file is looked at.
    package func firstResult<Result>(_ transform: (Element) -> Result?) -> Result? {
        for element in self { if let result = transform(element) { return result } }
        return nil
    }
}
