// SPDX-License-Identifier: LGPL-2.1-or-later
import GTKObjects
import GTKSupport
import Testing

@Suite("A program with windows")
@MainActor
struct ApplicationTests {
    @Test("it looks for no resources, for which the first window would wait")
    func looksForNoResources() {
        let application = Application("org.example.Handoff.Test", startUp: {}, activate: {})
        #expect(application.object[text: "application-id"] == "org.example.Handoff.Test")
        #expect(application.object[text: "resource-base-path"].isEmpty)
    }
}
