// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import BrowserAdapter
internal import DocumentsAdapter
internal import EditorAdapter
internal import Glibc
internal import MediaAdapter
internal import OfficeAdapter
internal import PhoneAdapter
internal import Platform
internal import ShellAdapter

// All adapters are one program, so that what they share is in memory once. It is called by their names.
Translation.begin()
exit(
    AdapterChoice.run([
        BrowserAdapter.program, DocumentsAdapter.program, EditorAdapter.program, MediaAdapter.program,
        OfficeAdapter.program, PhoneAdapter.program, ShellAdapter.program,
    ]))
