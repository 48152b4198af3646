// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import Glibc

// Adds contacts to a file until it is killed, and prints the name of each once it is stored: FILE PREFIX. With a third
// argument it has no more contacts than that, and changes them in turn.
let arguments = CommandLine.arguments
guard (3...4).contains(arguments.count) else { exit(2) }
let file = ContactFile(path: arguments[1])
let count = arguments.count == 4 ? Int(arguments[3]) : nil
for number in 0... {
    let id = count.map { count in
        let digits = String(number % max(count, 1), radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
    var contact = Contact(id: id ?? Contact.newID(), modified: Int64(number))
    contact[.name] = "\(arguments[2])\(number)"
    contact[.note] = String(repeating: "x", count: count == nil ? 20_000 : 2_000)
    _ = try file.change { $0.save(contact) }
    let line = contact[.name] + "\n"
    // As one piece, or the end of a process could cut it.
    line.utf8CString.withUnsafeBytes { _ = write(1, $0.baseAddress, line.utf8.count) }
}
