/** A text that does not have the format it should have. The message says what is wrong, for a person. */
export class BadFormat extends Error {
  override name = 'BadFormat';
}
