// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import Glibc

// Adds contacts to a file until it is killed, and prints the name of each once it is stored: FILE PREFIX.
let arguments = CommandLine.arguments
guard arguments.count == 3 else { exit(2) }
let file = ContactFile(path: arguments[1])
for number in 0... {
    var contact = Contact(modified: Int64(number))
    contact[.name] = "\(arguments[2])\(number)"
    contact[.note] = String(repeating: "x", count: 20_000)
    _ = try file.change { $0.save(contact) }
    let line = contact[.name] + "\n"
    // As one piece, or the end of a process could cut it.
    line.utf8CString.withUnsafeBytes { _ = write(1, $0.baseAddress, line.utf8.count) }
}
