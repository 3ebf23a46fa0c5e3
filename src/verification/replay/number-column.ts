/** One integer below 2^32 for each task or session, by its number; zero unless set. */
export class NumberColumn {
  #values = new Uint32Array(64);

  get(number: number): number {
    return this.#values[number] ?? 0;
  }

  set(number: number, value: number): void {
    if (number >= this.#values.length) {
      const grown = new Uint32Array(Math.max(this.#values.length * 2, number + 1));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[number] = value;
  }
}
