// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import AdapterSupport

@Suite("Which adapter a process is")
struct AdapterChoiceTests {
    private let adapters = [
        AdapterProgram("media") { 10 + Int32($0.count) },
        AdapterProgram("documents") { 20 + Int32($0.count) },
    ]

    @Test(
        "the one that the program is called by, else the one that is named first, else none",
        arguments: [
            (["handoff-media"], 11), (["/usr/libexec/handoff-documents", "--verbose"], 22),
            (["handoff-adapter", "media", "--verbose"], 12), (["handoff-media", "documents"], 12),
            (["handoff-adapter"], 2), (["handoff-adapter", "films"], 2), (["handoff-"], 2), ([], 2),
        ] as [([String], Int32)])
    func choice(_ words: [String], _ status: Int32) {
        #expect(AdapterChoice.run(adapters, words) == status)
    }
}
