/** Something that a person must decide or mend first; nothing has been written when it is thrown. */
export class Refusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Refusal';
  }
}
