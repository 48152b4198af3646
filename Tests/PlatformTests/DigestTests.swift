// SPDX-License-Identifier: LGPL-2.1-or-later
import Platform
import Testing

@Suite("Digests")
struct DigestTests {
    @Test("SHA-256 and HMAC give what the standards say (FIPS 180-2, RFC 4231)")
    func vectors() {
        #expect(
            Digest.hexadecimal(Digest.sha256("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            Digest.hexadecimal(Digest.sha256([]))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            Digest.hexadecimal(
                Digest.hmacSHA256(key: Array("Jefe".utf8), "what do ya want for nothing?".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }
}
