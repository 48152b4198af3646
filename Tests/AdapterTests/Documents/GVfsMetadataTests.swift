// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import Testing

@testable import DocumentsAdapter

@Suite("the page of a document")
struct GVfsMetadataTests {
    @Test(
        "is what GVfs says of Evince's, which counts from 0",
        arguments: [
            ("uri: file:///x\nattributes:\n  metadata::evince::page: 3\n", 4), ("", nil),
            ("attributes:\n", nil), ("  metadata::evince::page: -1\n", nil),
            ("  metadata::evince::page: 3 4\n", nil),
            ("  metadata::evince::page: 99999999999999999999\n", nil),
            ("  metadata::evince::page-label: 3\n", nil),
        ] as [(String, Int?)])
    func metadata(_ text: String, _ page: Int?) {
        #expect(GVfsMetadata.page(in: text)?.number == page)
    }
}
