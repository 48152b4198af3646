// SPDX-License-Identifier: LGPL-2.1-or-later

/// A bar that shows how much of something is done.
enum ProgressBar {
    /// How many columns the bar itself takes at most.
    private static let maximumWidth = 40
    /// What is around it: brackets, two spaces, and the percentage.
    private static let margin = 8

    /// The bar for this `share`, from 0 to 1, in a line of so many `columns`; only the percentage if there is no room
    /// for more. `isUnicode`: whether the terminal shows more than ASCII.
    static func text(_ share: Double, columns: Int, isUnicode: Bool) -> String {
        let share = share.isNaN ? 0 : min(max(share, 0), 1)
        // What is not complete never says so.
        let percent = "\(Int(share * 100)) %".padded(toStartOf: 5)
        // The last column stays free, since some terminals begin a new line there.
        let width = min(maximumWidth, columns - margin - 1)
        guard width > 0 else { return percent }
        let done = Int(share * Double(width))
        let (full, empty) = isUnicode ? ("█", "░") : ("#", "-")
        let bar = String(repeating: full, count: done) + String(repeating: empty, count: width - done)
        return "[\(bar)] \(percent)"
    }
}

extension String {
    /// The text with spaces before it, so that it takes at least so many characters.
    fileprivate func padded(toStartOf width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
