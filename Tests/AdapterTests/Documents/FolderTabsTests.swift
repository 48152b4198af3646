// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import DocumentsAdapter

@Suite("The tabs of a file manager")
struct FolderTabsTests {
    @Test("show the place that was new last, or any that is left")
    func current() {
        var tabs = FolderTabs()
        for (places, isChange, current) in [
            (["a"], true, "a"), (["a"], false, "a"), (["a", "b"], true, "b"), (["b", "a"], false, "b"),
            (["c", "a"], true, "c"), (["a"], true, "a"), ([], true, nil), ([], true, nil), (["d"], true, "d"),
        ] as [([String], Bool, String?)] {
            #expect(tabs.take(places) == isChange)
            #expect(tabs.current == current)
        }
    }

    @Test("are looked at up to so many")
    func bounded() {
        var tabs = FolderTabs()
        _ = tabs.take((0..<100_000).map { "\($0)" })
        #expect(tabs.current == "63")
    }
}
