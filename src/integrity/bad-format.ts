/** A text that does not have the format it should have. The message says what is wrong, for a person. */
export class BadFormat extends Error {
  override name = 'BadFormat';
}

/** A checkpoint that no given key has signed. The file may be sound, and the key another one. */
export class UnknownSigner extends BadFormat {}
